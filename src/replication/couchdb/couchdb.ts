import { checkOptions } from '../../api/options/option-checks.ts';
import { systemClock } from '../../async/clock.ts';
import type { JsonObject } from '../../codec/exact-json/json-checks.ts';
import { isPlainObject } from '../../codec/kinds.ts';
import { loadFailed, OptionError } from '../../errors/errors.ts';
import { ReplicationError } from '../../errors/replication-error.ts';
import { type FetchingOptions, fetchingChecks, parseUrl } from '../fetching/remote-options.ts';
import type { Remote, ReplicationScope } from '../protocol/remote.ts';
import type { CouchCheckpoint } from './couch-answers.ts';
import type { CouchRemote, CouchSettings } from './couch-remote.ts';

/**
 * Options of {@link couchdb}; `url` is that of one database, such as
 * `https://example.com:5984/orders`.
 */
export interface CouchOptions extends FetchingOptions {
  /**
   * A Mango selector: the server sends only documents that match, and deletions. A document that
   * stops matching is removed here, its changes first. With another selector all is pulled anew.
   */
  readonly selector?: Selector | undefined;
  /**
   * The selectors of scopes, by name, for the option `scopes` of `replicate()`. What `selector`
   * says holds as well.
   */
  readonly scopes?:
    | Readonly<Record<string, (value: string | number | boolean) => Selector>>
    | undefined;
}

type Selector = Readonly<Record<string, unknown>>;

/** The scope that `selector` is where `replicate()` has none. */
const DEFAULT_SCOPE = '_selector';

/**
 * A database of CouchDB, straight from the page, or of a server that speaks its protocol, such as
 * PouchDB Server.
 *
 * Other programs see documents as they are; what CouchDB does not take is in one field, `$cairn`:
 * fields whose names begin with `_`, and values outside JSON; dates are also ISO strings in their
 * place. Design documents stay on the server, and so do attachments. Branches of a document, which
 * nodes of a cluster leave behind, are merged by fields: those of the winner win.
 *
 * @throws {OptionError} with the invalid option.
 *
 * @example
 * ```ts
 * const sync = replicate(orders, {
 *   remote: couchdb({
 *     url: 'https://example.com:5984/orders',
 *     headers: async () => ({ authorization: `Bearer ${await token()}` }),
 *     selector: { owner: 'ada' },
 *   }),
 * });
 * ```
 */
export function couchdb(options: CouchOptions): Remote<CouchCheckpoint> {
  const given = checkOptions(
    options,
    {
      ...fetchingChecks,
      selector: { allowed: SELECTOR, test: isSelector },
      scopes: { allowed: 'an object of functions, by names of scopes', test: areScopes },
    },
    'couchdb(options)',
  ) as unknown as CouchOptions;
  const { url, headers = {}, fetch, selector, scopes } = given;
  // A copy: the app may change its object.
  const all = selector && (JSON.parse(JSON.stringify(selector)) as JsonObject);
  return lateRemote(
    { url: parseUrl(url), headers, fetch, selectorOf: (scope) => selectorOf(scope, all, scopes) },
    {
      ...(scopes && { scopes: true }),
      ...(all && { defaultScope: { [DEFAULT_SCOPE]: true } }),
    },
  );
}

function selectorOf(
  scope: ReplicationScope | undefined,
  all: JsonObject | undefined,
  scopes: CouchOptions['scopes'] = {},
): JsonObject | undefined {
  const [[name, value] = []] = Object.entries(scope ?? {});
  if (name === undefined || name === DEFAULT_SCOPE) return all;
  if (!Object.hasOwn(scopes, name))
    throw new ReplicationError('remote_refused', `couchdb() has no scope "${name}".`, {
      place: name,
    });
  const made = scopes[name]?.(value as string | number | boolean);
  if (!isSelector(made))
    throw new OptionError('option_invalid', `The scope "${name}" must return ${SELECTOR}.`, {
      place: name,
    });
  const own = JSON.parse(JSON.stringify(made)) as JsonObject;
  return all ? { $and: [all, own] } : own;
}

/** Loads its code with the first request: who replicates with another server needs none of it. */
function lateRemote(
  settings: CouchSettings,
  abilities: Pick<Remote, 'scopes' | 'defaultScope'>,
): Remote<CouchCheckpoint> {
  let loading: Promise<CouchRemote> | undefined;
  const load = () => {
    loading ??= import('./couch-remote.ts').then(
      ({ CouchRemote }) => new CouchRemote(settings, systemClock),
      (cause) => {
        loading = undefined;
        return loadFailed(cause);
      },
    );
    return loading;
  };
  return {
    id: `couchdb:${settings.url}`,
    ...abilities,
    files: {
      areAttached: true,
      received: async () => undefined,
      send: async () => undefined,
      read: async (...asked) => (await load()).readFile(...asked),
    },
    pull: async (...asked) => (await load()).pull(...asked),
    push: async (...asked) => (await load()).push(...asked),
    async *watch(...asked) {
      yield* (await load()).watch(...asked);
    },
  };
}

const SELECTOR = 'an object of JSON values, a Mango selector';

function isSelector(value: unknown): value is Selector {
  return isPlainObject(value) && isJson(value);
}

/** A name that begins with "_" is Cairn's. */
function areScopes(value: unknown): boolean {
  return (
    isPlainObject(value) &&
    Object.entries(value).every(
      ([name, make]) => typeof make === 'function' && !name.startsWith('_'),
    )
  );
}

/**
 * Whether JSON keeps a value, Dates as text: without `undefined`, `{ owner: undefined }` would
 * match all documents.
 */
function isJson(value: unknown): boolean {
  if (Array.isArray(value)) return value.every(isJson);
  if (isPlainObject(value)) return Object.values(value).every(isJson);
  if (typeof value === 'number') return Number.isFinite(value);
  return value === null || ['string', 'boolean'].includes(typeof value) || value instanceof Date;
}
