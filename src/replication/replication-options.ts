import { checkOptions, flag, oneOf } from '../api/options/option-checks.ts';
import { isPlainObject } from '../codec/kinds.ts';
import { OptionError } from '../errors/errors.ts';
import type { MergeRules } from './merge-fields.ts';
import type { Remote } from './protocol/remote.ts';
import type { Resolver } from './resolvers.ts';

/** Options of {@link replicate}. */
export interface ReplicationOptions<T extends object = object> {
  /** The server: `http()`, `couchdb()`, or an adapter of your own. */
  readonly remote: Remote;
  /** `pull` takes over the server's changes only, `push` sends local ones only. @default 'both' */
  readonly direction?: 'both' | 'pull' | 'push' | undefined;
  /** Decides conflicts. @default mergeFields */
  readonly resolve?: Resolver<T> | undefined;
  /**
   * Arrays of objects that merge item by item, by path, each with the field that names an item:
   * `{ checklist: { by: 'id' } }`. Not with `resolve`, which may pass it to `mergeFields`.
   */
  readonly merge?: MergeRules | undefined;
  /** Whether to go on after the first round. @default true */
  readonly live?: boolean | undefined;
}

/** Options with their defaults. */
export interface ReplicationSettings {
  readonly remote: Remote;
  readonly direction: 'both' | 'pull' | 'push';
  readonly resolve: Resolver | undefined;
  readonly merge: MergeRules | undefined;
  readonly live: boolean;
}

/** @throws {OptionError} with the invalid option. */
export function parseOptions(options: unknown): ReplicationSettings {
  const given = checkOptions(
    options,
    {
      remote: {
        allowed: 'a remote: an object with id, pull and push',
        test: isRemote,
        required: true,
      },
      direction: oneOf(['both', 'pull', 'push'], 'both'),
      resolve: { allowed: 'a function', test: (value) => typeof value === 'function' },
      merge: { allowed: "paths with the name of a field: { by: 'id' }", test: isRules },
      live: { ...flag, fallback: true },
    },
    'replicate(collection, options)',
  );
  if (given.merge && given.resolve)
    throw new OptionError(
      'option_conflict',
      'resolve decides alone, and merge would do nothing: call mergeFields(states, merge) in it.',
      { place: 'merge' },
    );
  return given as unknown as ReplicationSettings;
}

function isRules(value: unknown): boolean {
  return (
    isPlainObject(value) &&
    Object.values(value).every(
      (rule) =>
        isPlainObject(rule) && typeof rule.by === 'string' && Object.keys(rule).length === 1,
    )
  );
}

function isRemote(value: unknown): boolean {
  const { id, pull, push } = (value ?? {}) as Partial<Remote>;
  return (
    typeof id === 'string' &&
    id.length > 0 &&
    typeof pull === 'function' &&
    typeof push === 'function'
  );
}

/** @throws {OptionError} */
export function checkTimeout(timeout: unknown): void {
  if (timeout === undefined || (typeof timeout === 'number' && timeout >= 0)) return;
  throw new OptionError('option_invalid', 'timeout must be a number of milliseconds, 0 or more.', {
    place: 'timeout',
  });
}
