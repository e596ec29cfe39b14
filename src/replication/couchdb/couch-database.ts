import { nanoid } from 'nanoid';
import type { JsonObject } from '../../codec/exact-json/json-checks.ts';
import { RefusedError } from '../fetching/answer-errors.ts';
import type { Fetcher } from '../fetching/fetcher.ts';
import { callByHalves } from '../fetching/push-batches.ts';
import {
  type ChangesAnswer,
  type EditResult,
  readBodies,
  readChanges,
  readEdits,
  readKnown,
  readLarge,
  readMark,
  readPresent,
  readRinging,
  readStart,
  type Sequence,
} from './couch-answers.ts';
import type { CouchDocument, CouchEdit } from './couch-documents.ts';

/** The server sends a byte so often while it holds a request, in milliseconds. */
export const HEARTBEAT_MS = 10_000;

/** The document that names the history of a database. */
const MARK = '_local/cairn';

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

  /**
   * What names the history of the database: one that was deleted and created anew has another. It
   * is in a local document, which the first client makes: older servers do not say when a database
   * was created, and no other ones say it exactly. Local documents are in no `_changes`, and stay
   * where they are in replications.
   */
  async identity(signal: AbortSignal): Promise<string> {
    try {
      return await this.#mark(signal);
    } catch (error) {
      // A proxy may let nobody there. Whether the database itself can be read is seen next.
      if (!(error instanceof RefusedError) || error.status === 401 || error.status >= 429)
        throw error;
      return this.#call('', undefined, signal, readStart);
    }
  }

  /** Whether the database knows a revision: one that was restored or created anew does not. */
  knows(id: string, revision: string, signal: AbortSignal): Promise<boolean> {
    return this.#call('/_revs_diff', { [id]: [revision] }, signal, (body) => readKnown(body, id));
  }

  changes(since: Sequence, limit: number, signal: AbortSignal): Promise<ChangesAnswer> {
    const query = { include_docs: 'true', conflicts: 'true', limit: String(limit) };
    return this.#changes(since, query, signal, (body) => readChanges(body, limit));
  }

  /** The next change of all, without its document, which is too large. */
  largeChange(since: Sequence, signal: AbortSignal): Promise<ChangesAnswer> {
    return this.#changes(since, { limit: '1' }, signal, readLarge);
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

  /** Documents as they are now, tombstones too, by id; those that are missing are left out. */
  async present(
    ids: readonly string[],
    signal: AbortSignal,
  ): Promise<ReadonlyMap<string, CouchDocument>> {
    if (ids.length === 0) return new Map();
    return this.#call('/_all_docs?include_docs=true', { keys: ids }, signal, (body) =>
      readPresent(body, ids),
    );
  }

  /**
   * The bodies of revisions of documents, by id. Those that the database does not have any more are
   * left out, and those that are too large.
   *
   * @param revs Whether they have their histories, `_revisions`.
   * @param onLarge Gets the ids of those that are too large.
   */
  async bodies(
    revisions: readonly { readonly id: string; readonly rev: string }[],
    signal: AbortSignal,
    { revs = false, onLarge }: { readonly revs?: boolean; onLarge?: (id: string) => void } = {},
  ): Promise<ReadonlyMap<string, readonly CouchDocument[]>> {
    const found = new Map<string, CouchDocument[]>(revisions.map(({ id }) => [id, []]));
    const ids = new Set(found.keys());
    const documents = await callByHalves(
      revisions,
      (docs) =>
        this.#call(`/_bulk_get${revs ? '?revs=true' : ''}`, { docs }, signal, (body) =>
          readBodies(body, ids),
        ),
      ({ id }) => {
        onLarge?.(id);
        return [];
      },
    );
    for (const one of documents) found.get(one._id)?.push(one);
    return found;
  }

  async #mark(signal: AbortSignal): Promise<string> {
    const read = () => this.#call(`/${MARK}`, undefined, signal, readMark);
    try {
      return await read();
    } catch (error) {
      if (!(error instanceof RefusedError) || error.status !== 404) throw error;
    }
    const history = nanoid();
    const [made] = await this.write([{ _id: MARK, history }], signal);
    if (made && 'revision' in made) return history;
    // Another client was first.
    return read();
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
