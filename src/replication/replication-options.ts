import { checkOptions, flag, oneOf } from '../api/options/option-checks.ts';
import { isPlainObject } from '../codec/kinds.ts';
import { OptionError } from '../errors/errors.ts';
import type { MergeRules } from './merge-fields.ts';
import type { FilesSettings } from './protocol/files.ts';
import type { Remote, ReplicationScope } from './protocol/remote.ts';
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
  /**
   * The parts of the collection that replicate; each has one name, which the server knows, and a
   * value: `[{ technician: 'ada' }]`. Documents that no scope has are removed here. Left out: the
   * whole collection. The same in all pages.
   */
  readonly scopes?: readonly ReplicationScope[] | undefined;
  /**
   * Files beside documents: Blobs, and bytes over a size, travel apart, and the document has
   * `{ $file: { sha256, size, type } }` in their place. `'lazy'` loads a file with
   * `sync.file(id, path)`, `'eager'` after its document. With a document collection, and a
   * remote that has files.
   */
  readonly files?: 'lazy' | 'eager' | FilesOptions | undefined;
  /** Whether to go on after the first round. @default true */
  readonly live?: boolean | undefined;
}

/** Options of files. */
export interface FilesOptions {
  /** @default 'lazy' */
  readonly load?: 'lazy' | 'eager' | undefined;
  /** Bytes over so many become a file. @default 4096 */
  readonly above?: number | undefined;
  /** Bytes of files that are kept here, of those that the server has. @default 500 MB */
  readonly limit?: number | undefined;
}

/** Options with their defaults. */
export interface ReplicationSettings {
  readonly remote: Remote;
  readonly direction: 'both' | 'pull' | 'push';
  readonly resolve: Resolver | undefined;
  readonly merge: MergeRules | undefined;
  readonly scopes: readonly ReplicationScope[] | undefined;
  readonly files: FilesSettings | undefined;
  /** The replicated one; not given by tests of rounds. */
  readonly collection?: object | undefined;
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
      merge: { allowed: "such as { list: { by: 'id' } }", test: isRules },
      scopes: {
        allowed: "a list such as [{ technician: 'ada' }]",
        test: (value) => Array.isArray(value) && value.every(isScope),
      },
      files: { allowed: "'lazy', 'eager' or { load, above, limit }", test: isFiles },
      live: { ...flag, fallback: true },
    },
    'replicate(collection, options)',
  );
  if (given.merge && given.resolve) throw optionConflict('merge', 'Give merge or resolve.');
  const load = typeof given.files === 'string' ? given.files : 'lazy';
  const files = given.files && {
    load,
    above: 4096,
    limit: 500e6,
    leaves: (given.scopes ?? (given.remote as Remote).defaultScope) !== undefined,
    ...(isPlainObject(given.files) && (given.files as object)),
  };
  const settings = { ...given, files } as unknown as ReplicationSettings;
  if (files && !settings.remote.files) throw optionConflict('files', 'The remote has no files.');
  if (settings.scopes && !settings.remote.scopes)
    throw optionConflict('scopes', 'The remote has no scopes.');
  return settings;
}

export function optionConflict(place: string, message: string): OptionError {
  return new OptionError('option_conflict', message, { place });
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

function isFiles(given: unknown): boolean {
  if (!isPlainObject(given)) return given === 'lazy' || given === 'eager';
  const { load = 'lazy', above = 0, limit = 0, ...others } = given as FilesOptions;
  const isSize = (value: number) => Number.isFinite(value) && value >= 0;
  return isFiles(load) && isSize(above) && isSize(limit) && Object.keys(others).length === 0;
}

function isScope(given: unknown): boolean {
  const [value, ...others] = isPlainObject(given) ? Object.values(given) : [];
  return others.length === 0 && (/^(string|boolean)$/.test(typeof value) || Number.isFinite(value));
}

const UNITS = { m: 60_000, h: 3_600_000, d: 86_400_000 };

/** A duration in milliseconds; `NaN` for what is none. */
function durationOf(keep: unknown): number {
  const [, count, unit] = /^(\d+)([mhd])$/.exec(keep as string) ?? [];
  return unit ? Number(count) * UNITS[unit as keyof typeof UNITS] : Number(keep);
}

/** The change of a scope, as the engine gets it. @throws {OptionError} */
export function scopeAsk(given: { scope: unknown; keep: unknown }, now: number) {
  const { scope, keep } = checkOptions(
    given,
    {
      scope: { allowed: "such as { technician: 'ada' }", test: isScope, required: true },
      keep: { allowed: "milliseconds or such as '7d'", test: (value) => durationOf(value) >= 0 },
    },
    'scopes',
  );
  const until = keep === undefined ? undefined : now + durationOf(keep);
  return { scope: JSON.stringify(scope), until };
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
