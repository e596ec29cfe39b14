import { nanoid } from 'nanoid';
import type { JsonObject } from '../../codec/exact-json/json-checks.ts';
import { RefusedError } from '../fetching/answer-errors.ts';
import type { Fetcher } from '../fetching/fetcher.ts';
import { callByHalves } from '../fetching/push-batches.ts';
import type { FileAsk, RemoteFile } from '../protocol/remote.ts';
import {
  type ChangedIds,
  type ChangesAnswer,
  type EditResult,
  readBodies,
  readChanges,
  readEdits,
  readFound,
  readIds,
  readKnown,
  readLarge,
  readMark,
  readPresent,
  readRinging,
  readStart,
  type SeenDocuments,
  type Sequence,
} from './couch-answers.ts';
import type { CouchDocument, CouchEdit } from './couch-documents.ts';
import { type AttachedFile, partOfAnswer, withFiles } from './couch-files.ts';

/** The server sends a byte so often while it holds a request, in milliseconds. */
export const HEARTBEAT_MS = 10_000;

/** The document that names the history of a database. */
const MARK = '_local/cairn';

/** What the status of one document says, as in `_bulk_docs`. */
const OF_DOCUMENT: ReadonlyMap<number, string> = new Map([
  [403, 'forbidden'],
  [409, 'conflict'],
  [412, 'missing_stub'],
  [413, 'document_too_large'],
]);

const pathOf = (id: string) => `/${encodeURIComponent(id)}`;

/** Where changes begin, of all documents or of those that match. */
export interface Place {
  readonly since: Sequence;
  readonly selector?: JsonObject | undefined;
}

export class CouchDatabase {
  readonly #url: string;
  readonly #fetcher: Fetcher;

  constructor(url: string, fetcher: Fetcher) {
    this.#url = url;
    this.#fetcher = fetcher;
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

  /** Whether the database knows all of them: one that was restored or created anew does not. */
  knows(seen: SeenDocuments, signal: AbortSignal): Promise<boolean> {
    const asked = Object.fromEntries(seen.map(([id, revision]) => [id, [revision]]));
    return this.#call('/_revs_diff', asked, signal, (body) => readKnown(body, seen));
  }

  changes(place: Place, limit: number, signal: AbortSignal): Promise<ChangesAnswer> {
    const query = { include_docs: 'true', conflicts: 'true', limit: String(limit) };
    return this.#changes(place, query, signal, (body) => readChanges(body, limit));
  }

  /** The next change of all, without its document, which is too large. */
  largeChange(place: Place, signal: AbortSignal): Promise<ChangesAnswer> {
    return this.#changes(place, { limit: '1' }, signal, readLarge);
  }

  /** As {@link changes}, without documents. */
  changedIds(place: Place, limit: number, signal: AbortSignal): Promise<ChangedIds> {
    // A cluster computes the place of each row otherwise, which is longer than the row.
    const query = { limit: String(limit), seq_interval: String(limit) };
    return this.#changes(place, query, signal, readIds);
  }

  /** Whether a document matches a selector now. */
  async matches(id: string, selector: JsonObject, signal: AbortSignal): Promise<boolean> {
    const query = { selector: { $and: [{ _id: id }, selector] }, fields: ['_id'], limit: 1 };
    return this.#call('/_find', query, signal, readFound);
  }

  /** As {@link Fetcher.hold}. */
  hold(run: () => Promise<unknown>): Promise<boolean> {
    return this.#fetcher.hold(this.#url, run);
  }

  /** Resolves when there is a change, with `false` if the server does not wait any longer. */
  poll(place: Place, signal: AbortSignal): Promise<boolean> {
    const query = { feed: 'longpoll', heartbeat: String(HEARTBEAT_MS), limit: '1' };
    return this.#changes(place, query, signal, readRinging);
  }

  write(edits: readonly CouchEdit[], signal: AbortSignal): Promise<EditResult[]> {
    const ids = edits.map(({ _id }) => _id);
    return this.#call('/_bulk_docs', { docs: edits }, signal, (body) => readEdits(body, ids));
  }

  /** Writes a document with files. */
  async writeWithFiles(
    edit: CouchEdit,
    files: readonly AttachedFile[],
    signal: AbortSignal,
  ): Promise<EditResult> {
    const id = edit._id;
    try {
      return await this.#call(pathOf(id), withFiles(edit, files), signal, (body) => {
        const [result] = readEdits([body], [id]);
        return result as EditResult;
      });
    } catch (failure) {
      if (!(failure instanceof RefusedError)) throw failure;
      const error = OF_DOCUMENT.get(failure.status);
      if (error === undefined) throw failure;
      return { error, reason: failure.refusal?.message ?? failure.message };
    }
  }

  /** A part of an attachment: so many bytes, behind others. */
  attachment(
    { id = '', sha256, size }: RemoteFile,
    [from, length]: readonly [from: number, length: number],
    { signal, onBytes }: FileAsk,
  ): Promise<Uint8Array<ArrayBuffer>> {
    const url = `${this.#url}${pathOf(id)}/${sha256}`;
    // A header that some browsers ask the server about first.
    const range = size > length ? `bytes=${from}-${from + length - 1}` : undefined;
    return this.#fetcher.open({ url, signal, range, accept: '*/*' }, (response) =>
      partOfAnswer(response, response.status === 206 ? 0 : from, length, onBytes),
    );
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
    await this.write([{ _id: MARK, history }], signal);
    // Another client was first, or has written over it: CouchDB lets it.
    return read();
  }

  #changes<T>(
    { since, selector }: Place,
    query: Readonly<Record<string, string>>,
    signal: AbortSignal,
    read: (body: unknown) => T,
  ): Promise<T> {
    const parameters = new URLSearchParams({
      ...query,
      since: String(since),
      ...(selector && { filter: '_selector' }),
    });
    // A tombstone has no fields that a selector could match.
    const body = selector && { selector: { $or: [{ _deleted: true }, selector] } };
    return this.#call(`/_changes?${parameters}`, body, signal, read);
  }

  #call<T>(
    path: string,
    body: object | undefined,
    signal: AbortSignal,
    read: (body: unknown) => T,
  ): Promise<T> {
    return this.#fetcher.fetch({ url: this.#url + path, body, signal }, read);
  }
}
