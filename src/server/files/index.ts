import { sha256 as sha256Hash } from '@noble/hashes/sha2.js';
import { bytesToHex } from '@noble/hashes/utils.js';
import { OptionError } from '../../errors/errors.ts';
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
export { postgresFiles } from './postgres-files.ts';

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
      const upload = { collection, sha256, device: device as string };
      return this.#take(asked, upload, numberOf('size'), numberOf('from'));
    }
    if (request.method !== 'GET')
      throw fail(405, 'method_not_allowed', 'Use GET or PUT.', { allow: 'GET, PUT' });
    if (device === null) return this.#send(asked);
    if (!DEVICE.test(device)) throw fail(400, 'message_invalid', '"device" is invalid.');
    const received = await this.#store.received({ collection, sha256, device });
    const isKnown = received === undefined || (await this.#mayRead(asked));
    return json({ received, done: isKnown });

    function numberOf(name: string): number {
      const value = Number(searchParams.get(name) ?? Number.NaN);
      if (Number.isSafeInteger(value) && value >= 0) return value;
      throw fail(400, 'message_invalid', `"${name}" is no number of bytes.`);
    }
  }

  async refusal({ documents, collection, row, canRead }: RowCheck): Promise<string | undefined> {
    const { id, document, device } = row;
    const named = namedIn(document);
    if (named.size === 0) return undefined;
    for (const [sha256, size] of named) {
      const file = { collection, sha256 };
      if ((await this.#store.size(file)) !== size)
        return `The server has no file ${sha256} of ${size} bytes.`;
      const isOwn =
        DEVICE.test(device ?? '') &&
        (await this.#store.received({ ...file, device: device as string })) === undefined;
      if (!isOwn && !(await this.#mayRead({ documents, canRead, ...file })))
        return `You have not sent the file ${sha256}.`;
    }
    // Before the document: a file that is named is not removed.
    await this.#store.name(collection, id, [...named.keys()]);
    return undefined;
  }

  async collect(documents: Store): Promise<number> {
    const since = new Date(Date.now() - this.#grace * 1000);
    let removed = 0;
    for (const file of await this.#store.unused(since)) {
      await this.#namesOf(documents, file, async () => false, true);
      if (await this.#store.remove(file, since)) removed++;
    }
    return removed;
  }

  async #take(
    { request, fail, readBytes, documents, report }: AskedFile,
    upload: UploadName,
    size: number,
    from: number,
  ): Promise<Response> {
    if (size > this.#limit)
      throw fail(413, 'file_too_large', `A file has at most ${this.#limit} bytes.`);
    const known = await this.#store.received(upload);
    if (known === undefined) return json({ received: size, done: true });
    if (from !== known) return json({ received: known, done: false });
    const bytes = await readBytes(request, PART_BYTES);
    const damaged = async () => {
      await this.#store.discard(upload);
      return fail(422, 'file_damaged', 'The file has another size or SHA-256 than it was to have.');
    };
    // A part of nothing would go on for ever.
    if (from + bytes.length > size || (bytes.length === 0 && size > 0)) throw await damaged();
    const received = await this.#store.append(upload, from, bytes);
    if (received < size) return json({ received, done: false });
    if (received > size || (await this.#hashOf(upload, size)) !== upload.sha256)
      throw await damaged();
    await this.#store.finish(upload);
    if (Date.now() - this.#collectedAt > HOUR_MS) {
      this.#collectedAt = Date.now();
      this.collect(documents).catch(report);
    }
    return json({ received, done: true });
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
    const { request, collection, sha256, fail } = asked;
    const file = { collection, sha256 };
    const size = await this.#store.size(file);
    // The same answer for a file of others: it must not say which files are there.
    if (size === undefined || !(await this.#mayRead(asked)))
      throw fail(404, 'file_unknown', 'There is no such file, or it is not yours.');
    const part = new URL(request.url).searchParams.get('from');
    const asksFor = part === null ? request.headers.get('range') : partFrom(part);
    const range = rangeOf(asksFor, size);
    if (!range)
      throw fail(416, 'range_invalid', 'The file has no such bytes.', {
        'content-range': `bytes */${size}`,
      });
    const { from, to, isPart } = range;
    return new Response(this.#bytes(file, from, to), {
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

  /** Reads the next part when it is wanted. */
  #bytes(file: FileName, from: number, to: number): ReadableStream<Uint8Array> {
    let at = from;
    return new ReadableStream({
      pull: async (controller) => {
        const part = at < to ? await this.#store.read(file, at) : undefined;
        if (part) {
          const bytes = part.bytes.subarray(at - part.from, to - part.from);
          at += bytes.length;
          controller.enqueue(bytes);
        } else if (at < to) controller.error(new Error('The file was removed.'));
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
   * @param forgets Whether those that no longer name it are forgotten: one that was just allowed to
   *   may not be stored yet.
   */
  async #namesOf(
    documents: Store,
    file: FileName,
    passes: (id: string, document: object) => Promise<boolean>,
    forgets = false,
  ): Promise<boolean> {
    let last: string | undefined;
    for (;;) {
      const ids = await this.#store.names(file, READ_AT_ONCE, last);
      if (ids.length === 0) return false;
      last = ids.at(-1);
      const former = new Set(ids);
      let isPassed = false;
      for (const { id, document } of await documents.read(file.collection, ids)) {
        if (!document || !namedIn(document).has(file.sha256)) continue;
        former.delete(id);
        isPassed ||= await passes(id, document);
      }
      if (isPassed) return true;
      if (forgets && former.size > 0) await this.#store.unname(file, [...former]);
    }
  }
}

/** The files that a document names, as the store has it, with their sizes. */
function namedIn(value: unknown, found = new Map<string, number>()): Map<string, number> {
  if (typeof value !== 'object' || value === null) return found;
  for (const [key, inner] of Object.entries(value)) {
    const { sha256, size } = (inner ?? {}) as { sha256?: unknown; size?: unknown };
    if (key === '$file' && typeof sha256 === 'string') found.set(sha256, Number(size));
    else namedIn(inner, found);
  }
  return found;
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
const partFrom = (from: string): string => `bytes=${from}-${Number(from) + PART_BYTES - 1}`;

function json(value: object): Response {
  return Response.json(value, {
    headers: { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' },
  });
}
