import type { JsonObject } from '../../codec/exact-json/json-checks.ts';
import type { Fetcher } from '../fetching/fetcher.ts';
import {
  type ChangesAnswer,
  type EditResult,
  readBodies,
  readChanges,
  readEdits,
  readIdentity,
  readKnown,
  readPresent,
  readRinging,
  type Sequence,
} from './couch-answers.ts';
import type { CouchDocument, CouchEdit } from './couch-documents.ts';

/** The server sends a byte so often while it holds a request, in milliseconds. */
export const HEARTBEAT_MS = 10_000;

/** The requests to one database. */
export class CouchDatabase {
  readonly #url: string;
  readonly #fetcher: Fetcher;
  readonly #selector: JsonObject | undefined;

  /** @param selector Left out: all documents. */
  constructor(url: string, fetcher: Fetcher, selector: JsonObject | undefined) {
    this.#url = url;
    this.#fetcher = fetcher;
    // A tombstone has no fields that a selector could match.
    this.#selector = selector && { $or: [{ _deleted: true }, selector] };
  }

  /** What identifies the database: another one with this name has another. Older servers do not say. */
  identity(signal: AbortSignal): Promise<string> {
    return this.#call('', undefined, signal, readIdentity);
  }

  /** Whether the database knows a revision: one that was restored or created anew does not. */
  knows(id: string, revision: string, signal: AbortSignal): Promise<boolean> {
    return this.#call('/_revs_diff', { [id]: [revision] }, signal, (body) => readKnown(body, id));
  }

  changes(since: Sequence, limit: number, signal: AbortSignal): Promise<ChangesAnswer> {
    const query = { include_docs: 'true', conflicts: 'true', limit: String(limit) };
    return this.#changes(since, query, signal, (body) => readChanges(body, limit));
  }

  /** Resolves when there is a change, with `false` if the server does not wait any longer. */
  poll(since: Sequence, signal: AbortSignal, onBytes: () => void): Promise<boolean> {
    const query = { feed: 'longpoll', heartbeat: String(HEARTBEAT_MS), limit: '1' };
    return this.#changes(since, query, signal, readRinging, onBytes);
  }

  write(edits: readonly CouchEdit[], signal: AbortSignal): Promise<EditResult[]> {
    const ids = edits.map(({ _id }) => _id);
    return this.#call('/_bulk_docs', { docs: edits }, signal, (body) => readEdits(body, ids));
  }

  /** Documents as they are now, tombstones too, by id. Those that the database does not have are left out. */
  async present(
    ids: readonly string[],
    signal: AbortSignal,
  ): Promise<ReadonlyMap<string, CouchDocument>> {
    if (ids.length === 0) return new Map();
    return this.#call('/_all_docs?include_docs=true', { keys: ids }, signal, (body) =>
      readPresent(body, ids),
    );
  }

  /** The bodies of revisions of documents, by id. Those that the database does not have any more are left out. */
  async bodies(
    revisions: readonly { readonly id: string; readonly rev: string }[],
    signal: AbortSignal,
  ): Promise<ReadonlyMap<string, readonly CouchDocument[]>> {
    if (revisions.length === 0) return new Map();
    return this.#call('/_bulk_get', { docs: revisions }, signal, (body) =>
      readBodies(body, new Set(revisions.map(({ id }) => id))),
    );
  }

  #changes<T>(
    since: Sequence,
    query: Readonly<Record<string, string>>,
    signal: AbortSignal,
    read: (body: unknown) => T,
    onBytes?: () => void,
  ): Promise<T> {
    const parameters = new URLSearchParams({
      ...query,
      since: String(since),
      ...(this.#selector && { filter: '_selector' }),
    });
    const body = this.#selector && { selector: this.#selector };
    return this.#call(`/_changes?${parameters}`, body, signal, read, onBytes);
  }

  #call<T>(
    path: string,
    body: object | undefined,
    signal: AbortSignal,
    read: (body: unknown) => T,
    onBytes?: () => void,
  ): Promise<T> {
    return this.#fetcher.fetch({ url: this.#url + path, body, signal, onBytes }, read);
  }
}
