import { sha256 as sha256Hash } from '@noble/hashes/sha2.js';
import { bytesToHex } from '@noble/hashes/utils.js';
import { OptionError } from '../../errors/errors.ts';
import { refsIn } from '../../replication/protocol/files.ts';
import { PART_BYTES } from '../../replication/protocol/http-fields.ts';
import type { AskedFile, HandlerFiles, RowCheck } from '../handler-files.ts';
import type { Store } from '../store.ts';
import type { FileName, FileStore, UploadName } from './file-store.ts';

export {
  type FileName,
  type FileStore,
  memoryFiles,
  type UploadName,
} from './file-store.ts';
export { type FileObjects, postgresFiles } from './postgres-files.ts';

/** Options of {@link documentFiles}. */
export interface DocumentFilesOptions {
  /** Where the files are: `postgresFiles(query)`, `memoryFiles()`, or your own. */
  readonly store: FileStore;
  /** Most bytes of a file. @default 100 MB */
  readonly limit?: number | undefined;
  /** Seconds for which a file stays that no document names. @default 86400, a day */
  readonly grace?: number | undefined;
}

/** Files beside documents, for the option `files` of `createHandler`. */
export interface ServerFiles extends HandlerFiles {
  /**
   * Removes files that no document has named for the grace period. The handler calls it after
   * uploads, once an hour; call it yourself where processes live shortly.
   *
   * @returns how many were removed.
   */
  collect(documents: Store): Promise<number>;
}

const HOUR_MS = 3_600_000;
const DAY_SECONDS = 86_400;
const HUNDRED_MEGABYTES = 100 * 1024 * 1024;
/** Documents that name a file are read so many at a time. */
const READ_AT_ONCE = 50;
const DEVICE = /^[\w-]{16,64}$/;

/**
 * Keeps the files of documents: each is sent once, under its SHA-256, before the documents that
 * name it. Who may read one of these documents may read the file.
 *
 * @throws {OptionError}
 *
 * @example
 * ```ts
 * const files = documentFiles({ store: memoryFiles() });
 * const handler = createHandler({ store, authorize, files });
 * ```
 */
export function documentFiles(options: DocumentFilesOptions): ServerFiles {
  const { store, limit = HUNDRED_MEGABYTES, grace = DAY_SECONDS } = options;
  if (typeof store?.append !== 'function')
    throw new OptionError('option_missing', 'documentFiles() needs store, such as memoryFiles().', {
      place: 'store',
    });
  for (const [place, value] of Object.entries({ limit, grace }))
    if (!(typeof value === 'number' && value > 0))
      throw new OptionError('option_invalid', `${place} must be a number above 0.`, { place });
  return new FilesOfDocuments(store, limit, grace);
}

class FilesOfDocuments implements ServerFiles {
  readonly #store: FileStore;
  readonly #limit: number;
  readonly #grace: number;
  #collectedAt = Date.now();

  constructor(store: FileStore, limit: number, grace: number) {
    this.#store = store;
    this.#limit = limit;
    this.#grace = grace;
  }

  async answer(asked: AskedFile): Promise<Response> {
    const { request, collection, sha256, fail } = asked;
    const { searchParams } = new URL(request.url);
    const device = searchParams.get('device');
    if (request.method === 'PUT') {
      if (!DEVICE.test(device ?? ''))
        throw fail(400, 'message_invalid', '"device" is not 16 to 64 letters and digits.');
      const [size, from] = [numberIn(asked, 'size'), numberIn(asked, 'from')];
      return this.#take(
        asked,
        uploadOf({ collection, sha256 }, device as string, size),
        size,
        from,
      );
    }
    if (request.method !== 'GET')
      throw fail(405, 'method_not_allowed', 'Use GET or PUT.', { allow: 'GET, PUT' });
    if (device === null) return this.#send(asked);
    if (!DEVICE.test(device)) throw fail(400, 'message_invalid', '"device" is invalid.');
    const size = numberIn(asked, 'size');
    const received = await this.#progress(
      asked,
      uploadOf({ collection, sha256 }, device, size),
      size,
    );
    return progress(received !== undefined && (await this.#mayRead(asked)) ? undefined : received);
  }

  async refusal({ documents, collection, row, canRead }: RowCheck): Promise<string | undefined> {
    const { id, document, device } = row;
    const named = new Map(refsIn(document).map((ref) => [`${ref.sha256} ${ref.size}`, ref]));
    if (named.size === 0) return undefined;
    for (const { sha256, size } of named.values()) {
      const file = { collection, sha256 };
      const isOwn = async () =>
        DEVICE.test(device ?? '') &&
        (await this.#store.received(uploadOf(file, device as string, size))) === undefined;
      const isThere =
        (await this.#store.size(file)) === size &&
        ((await isOwn()) || (await this.#mayRead({ documents, canRead, ...file })));
      // The same for a file of others: it must not say which files are there.
      if (!isThere) return `You have sent no file ${sha256} of ${size} bytes.`;
    }
    // Before the document: a file that is named is not removed.
    await this.#store.name(
      collection,
      id,
      [...named.values()].map(({ sha256 }) => sha256),
    );
    return undefined;
  }

  async collect(documents: Store): Promise<number> {
    const since = new Date(Date.now() - this.#grace * 1000);
    let removed = 0;
    for (const file of await this.#store.unused(since)) {
      await this.#namesOf(documents, file, async () => false, since);
      if (await this.#store.remove(file, since)) removed++;
    }
    return removed;
  }

  async #take(asked: AskedFile, upload: UploadName, size: number, from: number): Promise<Response> {
    const { request, fail, readBytes, documents, report } = asked;
    if (size > this.#limit)
      throw fail(413, 'file_too_large', `A file has at most ${this.#limit} bytes.`);
    const known = await this.#progress(asked, upload, size);
    if (known !== from) return progress(known);
    const bytes = await readBytes(request, PART_BYTES);
    // A part of nothing would go on for ever.
    if (from + bytes.length > size || (bytes.length === 0 && size > 0)) throw damaged(asked);
    const appended = await this.#store.append(upload, from, bytes);
    if (appended < size) return progress(appended);
    const received = await this.#complete(asked, upload, size);
    if (received !== undefined) return progress(received);
    if (Date.now() - this.#collectedAt > HOUR_MS) {
      this.#collectedAt = Date.now();
      this.collect(documents).catch(report);
    }
    return progress(undefined);
  }

  /**
   * Bytes of an upload so far; `undefined` once it is done. A process may have ended before it made
   * a whole one the file.
   */
  async #progress(asked: AskedFile, upload: UploadName, size: number): Promise<number | undefined> {
    const received = await this.#store.received(upload);
    if (received === undefined || received < size || size === 0) return received;
    return this.#complete(asked, upload, size);
  }

  /**
   * Makes an upload with all bytes the file. Its parts stay as they are from now on: none is added
   * behind its size, and it is discarded only as its content is wrong.
   *
   * @returns as {@link #progress}: a copy that was restored meanwhile may have less of it.
   */
  async #complete(asked: AskedFile, upload: UploadName, size: number): Promise<number | undefined> {
    if ((await this.#hashOf(upload, size)) === upload.sha256) {
      await this.#store.finish(upload);
      return undefined;
    }
    // Another request may have finished it meanwhile.
    const received = await this.#store.received(upload);
    if (received !== size) return received;
    await this.#store.discard(upload);
    throw damaged(asked);
  }

  async #hashOf(upload: UploadName, size: number): Promise<string> {
    const hash = sha256Hash.create();
    for (let from = 0; from < size; ) {
      const bytes = await this.#store.uploaded(upload, from);
      if (!bytes || bytes.length === 0) return '';
      hash.update(bytes);
      from += bytes.length;
    }
    return bytesToHex(hash.digest());
  }

  /** A file, or the requested range of it. */
  async #send(asked: AskedFile): Promise<Response> {
    const { request, collection, sha256, fail, report } = asked;
    const file = { collection, sha256 };
    const size = await this.#store.size(file);
    // The same answer for a file of others: it must not say which files are there.
    if (size === undefined || !(await this.#mayRead(asked)))
      throw fail(404, 'file_unknown', 'There is no such file, or it is not yours.');
    const part = numberIn(asked, 'from', null);
    const asksFor = part === null ? request.headers.get('range') : partFrom(part);
    const range = rangeOf(asksFor, size);
    if (!range)
      throw fail(416, 'range_invalid', 'The file has no such bytes.', {
        'content-range': `bytes */${size}`,
      });
    const { from, to, isPart } = range;
    const first = await this.#bytesOf(file, from, to);
    // An answer that breaks off would look like a network that does, and be asked for again.
    if (!first) {
      const failure = fail(404, 'file_lost', `The server has lost bytes of the file ${sha256}.`);
      report(failure);
      throw failure;
    }
    return new Response(this.#stream(file, first, from, to), {
      status: isPart ? 206 : 200,
      headers: {
        'content-type': 'application/octet-stream',
        'content-length': String(to - from),
        'content-disposition': 'attachment',
        'accept-ranges': 'bytes',
        'cache-control': 'private, no-cache',
        'x-content-type-options': 'nosniff',
        ...(isPart && { 'content-range': `bytes ${from}-${to - 1}/${size}` }),
      },
    });
  }

  /** The bytes of one part, of those of a range; `undefined` where the store has them no more. */
  async #bytesOf(file: FileName, at: number, to: number): Promise<Uint8Array | undefined> {
    if (at === to) return new Uint8Array();
    const { from = 0, bytes } = (await this.#store.read(file, at)) ?? {};
    return bytes && bytes.length > at - from ? bytes.subarray(at - from, to - from) : undefined;
  }

  /** Reads the next part when it is wanted. */
  #stream(file: FileName, first: Uint8Array, from: number, to: number): ReadableStream<Uint8Array> {
    let at = from;
    return new ReadableStream({
      pull: async (controller) => {
        const bytes = at === from ? first : await this.#bytesOf(file, at, to);
        at += bytes?.length ?? 0;
        if (!bytes) controller.error(new Error('The file was removed.'));
        else if (bytes.length > 0) controller.enqueue(bytes);
        if (at === to) controller.close();
      },
    });
  }

  /** Whether a user may read a document that names a file. */
  #mayRead({
    documents,
    collection,
    sha256,
    canRead,
  }: Pick<AskedFile, 'documents' | 'collection' | 'sha256' | 'canRead'>): Promise<boolean> {
    return this.#namesOf(
      documents,
      { collection, sha256 },
      async (id, document) => !canRead || (await canRead(id, document)),
    );
  }

  /**
   * Whether one of the documents that name a file passes.
   *
   * @param since Those that no longer name it are forgotten, unless it was named since: a document
   *   that was allowed to may not be stored yet.
   */
  async #namesOf(
    documents: Store,
    file: FileName,
    passes: (id: string, document: object) => Promise<boolean>,
    since?: Date,
  ): Promise<boolean> {
    let last: string | undefined;
    for (;;) {
      const ids = await this.#store.names(file, READ_AT_ONCE, last);
      if (ids.length === 0) return false;
      last = ids.at(-1);
      const former = new Set(ids);
      let isPassed = false;
      for (const { id, document } of await documents.read(file.collection, ids)) {
        if (!document || !refsIn(document).some(({ sha256 }) => sha256 === file.sha256)) continue;
        former.delete(id);
        isPassed ||= await passes(id, document);
      }
      if (isPassed) return true;
      if (since && former.size > 0) await this.#store.unname(file, [...former], since);
    }
  }
}

/**
 * An upload of a file of one size: nobody adds bytes behind it while its hash is made, and makes
 * another file of it.
 */
function uploadOf(file: FileName, device: string, size: number): UploadName {
  return { ...file, device: `${device}.${size}` };
}

function damaged({ fail }: AskedFile): Error {
  return fail(422, 'file_damaged', 'The file has another size or SHA-256 than it was to have.');
}

/** @param header Such as `bytes=0-99`; what is no such range asks for the whole file. */
function rangeOf(
  header: string | null,
  size: number,
): { readonly from: number; readonly to: number; readonly isPart: boolean } | undefined {
  const [, first, last] = /^bytes=(\d{1,15})-(\d{0,15})$/.exec(header ?? '') ?? [];
  if (first === undefined) return { from: 0, to: size, isPart: false };
  const from = Number(first);
  const to = last ? Math.min(size, Number(last) + 1) : size;
  return from < to ? { from, to, isPart: true } : undefined;
}

/** The range of one part, for a page: a header would need a preflight in some browsers. */
const partFrom = (from: number): string => `bytes=${from}-${from + PART_BYTES - 1}`;

/** A number of bytes in the query of a request. @param absent Its value where it is left out. */
function numberIn<Absent = number>(
  { request, fail }: AskedFile,
  name: string,
  absent?: Absent,
): number | Absent {
  const given = new URL(request.url).searchParams.get(name);
  if (given === null && absent !== undefined) return absent;
  if (/^\d{1,15}$/.test(given ?? '')) return Number(given);
  throw fail(400, 'message_invalid', `"${name}" is no number of bytes.`);
}

/** @param received `undefined`: the server needs no more. */
function progress(received: number | undefined): Response {
  return Response.json(
    { received, done: received === undefined },
    { headers: { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' } },
  );
}
