import { checkOptions } from '../../api/options/option-checks.ts';
import { systemClock } from '../../async/clock.ts';
import { isPlainObject } from '../../codec/kinds.ts';
import { loadFailed } from '../../errors/errors.ts';
import { type FetchingOptions, fetchingChecks, parseUrl } from '../fetching/remote-options.ts';
import type { Remote } from '../protocol/remote.ts';
import type { CouchCheckpoint } from './couch-answers.ts';
import type { CouchRemote, CouchSettings } from './couch-remote.ts';

/**
 * Options of {@link couchdb}; `url` is that of one database, such as
 * `https://example.com:5984/orders`.
 */
export interface CouchOptions extends FetchingOptions {
  /**
   * A Mango selector: the server sends only documents that match, and deletions. A document that
   * stops matching stays as it was here. With another selector all is pulled anew, and what does
   * not match is removed here.
   */
  readonly selector?: Readonly<Record<string, unknown>> | undefined;
}

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
  const selector = {
    allowed: 'an object of JSON values, a Mango selector',
    test: (value: unknown) => isPlainObject(value) && isJson(value),
  };
  const given = checkOptions(
    options,
    { ...fetchingChecks, selector },
    'couchdb(options)',
  ) as unknown as CouchOptions;
  const { url, headers = {}, fetch } = given;
  const own = given.selector && JSON.parse(JSON.stringify(given.selector));
  return lateRemote({ url: parseUrl(url), headers, fetch, selector: own });
}

/** Loads its code with the first request: who replicates with another server needs none of it. */
function lateRemote(settings: CouchSettings): Remote<CouchCheckpoint> {
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
    pull: async (...asked) => (await load()).pull(...asked),
    push: async (...asked) => (await load()).push(...asked),
    async *watch(...asked) {
      yield* (await load()).watch(...asked);
    },
  };
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
