import type { Clock } from '../../async/clock.ts';
import { gunzip, joinBytes } from '../../backup/file/gzip.ts';
import type { DatabaseClient } from '../../page/client/database-client.ts';
import { type TargetCalls, TargetError, TaskPool } from '../calls/target-calls.ts';
import { type BackupList, isFileOfBackup } from '../content/backup-list.ts';
import type { PartRef, PartStore } from '../content/part-store.ts';
import { sha256 } from '../content/sha256.ts';
import { partsOf, type TargetManifest, writeManifest } from '../content/target-manifest.ts';
import type { StoredNote, TargetNotes } from '../content/target-notes.ts';
import { manifestPath, newBackupName } from '../content/target-paths.ts';

/** How far a run is. */
export interface UploadProgress {
  /** Bytes of new parts so far, before compression. */
  readonly uploaded_bytes: number;
  /** Bytes of parts so far that were in the target already. */
  readonly reused_bytes: number;
  /** What was sent: the new parts, compressed. */
  readonly sent_bytes: number;
}

interface Uploaded extends UploadProgress {
  readonly content: readonly (string | PartRef)[];
  readonly documents: number;
}

/** What a target has, as far as it says. */
interface Reusable {
  readonly listed: ReadonlySet<string>;
  /** Paths that are not to be used again: damaged parts, and those that may be removed. */
  readonly suspect: ReadonlySet<string>;
}

/**
 * Stores the parts of an export that a target lacks, a few at a time.
 *
 * @throws {TargetError}; errors of the export.
 */
async function upload(
  file: ReadableStream<Uint8Array>,
  parts: PartStore,
  { listed, suspect }: Reusable,
  progress: (progress: UploadProgress) => void,
): Promise<Uploaded> {
  const sent = new Set<string>();
  const content: (string | PartRef)[] = [];
  const counts = { uploaded_bytes: 0, reused_bytes: 0, sent_bytes: 0 };
  const pool = new TaskPool();
  let documents = 0;
  try {
    for await (const piece of exportedPieces(file)) {
      if ('text' in piece) {
        content.push(piece.text);
        documents += documentsIn(piece.text);
        continue;
      }
      const { part } = piece;
      const hash = await sha256(part);
      content.push([hash, part.length]);
      const path = parts.path(hash);
      if (sent.has(path) || (listed.has(path) && !suspect.has(path))) {
        counts.reused_bytes += part.length;
        progress({ ...counts });
        continue;
      }
      sent.add(path);
      await pool.add(async () => {
        const length = await parts.put(hash, part);
        counts.sent_bytes += length;
        counts.uploaded_bytes += part.length;
        progress({ ...counts });
      });
    }
  } finally {
    // No call begins any more once this has settled; one that was given up may still run in the
    // target.
    await pool.end();
  }
  await checkAllThere(content, parts);
  return { ...counts, content, documents };
}

/**
 * A copy of this browser profile, say, has the same name and may have removed a part meanwhile. A
 * list that lags is no reason to fail: what it leaves out is read.
 */
async function checkAllThere(
  content: readonly (string | PartRef)[],
  parts: PartStore,
): Promise<void> {
  const listed = await parts.list();
  for (const piece of content) {
    if (typeof piece === 'string' || listed.has(parts.path(piece[0]))) continue;
    if (await parts.has(piece[0])) continue;
    const message = `The target lost a part that was stored (${piece[0]}). Run the backup again.`;
    throw new TargetError('target_damaged', message, { place: piece[0] });
  }
}

/** The documents of a section, by its header; 0 for another framing line. */
function documentsIn(line: string): number {
  const { collection, documents } = JSON.parse(line) as {
    collection?: string;
    documents?: number;
  };
  return collection === undefined ? 0 : (documents ?? 0);
}

/** Whether two backups hold the same: but for the time, and the checksums that it is part of. */
function isSameContent(
  one: Pick<TargetManifest, 'content'>,
  other: Pick<TargetManifest, 'content'>,
): boolean {
  return (
    one.content.length === other.content.length &&
    one.content.every((piece, at) => isSamePiece(piece, other.content[at]))
  );
}

type Piece = TargetManifest['content'][number];

function isSamePiece(one: Piece, other: Piece | undefined): boolean {
  if (typeof one === 'string' && typeof other === 'string')
    return timeless(one) === timeless(other);
  return JSON.stringify(one) === JSON.stringify(other);
}

function timeless(line: string): string {
  const { created_at: _, crc32: __, version: ___, ...rest } = JSON.parse(line);
  return JSON.stringify(rest);
}

/** What a run has done. */
export interface BackupRun extends UploadProgress {
  /** Of the new backup; of the newest one where nothing had changed. */
  readonly name: string;
  /** Documents of all collections. */
  readonly documents: number;
  /** Whether the newest backup of this device has the same content: then there is no new one. */
  readonly unchanged: boolean;
}

/** Stores the parts that the target lacks, then the manifest, which makes the backup exist. */
export async function backUp(
  db: DatabaseClient,
  own: OwnBackups,
  { clock, random }: { readonly clock: Clock; readonly random: () => number },
  progress: (progress: UploadProgress) => void,
): Promise<BackupRun> {
  const { calls, list, parts, notes, database, device } = own;
  const created_at = Math.max(clock.now(), 0);
  const paths = await list.paths();
  const found = await notes.read();
  const listed = await parts.list();
  const suspect = new Set(found.flatMap(({ unused, damaged }) => [...unused, ...damaged]));
  const { content, documents, ...counts } = await upload(
    await db.exportAll(),
    parts,
    { listed, suspect },
    progress,
  );
  const named = new Set(partsOf({ content }).map(([hash]) => parts.path(hash)));
  // Before the manifest: what it names must not be removed on an older word.
  for (const note of found) if (isOver(note, named, listed)) await notes.remove(note.path);

  const newest = paths.find((path) => path.device === device);
  const last = own.newest.read();
  if (last !== undefined) list.expect({ device, name: last });
  // One that is older than the last run's is no measure: the list lags.
  if (newest && (last === undefined || newest.name >= last)) {
    const read = await list.tryRead(newest);
    if (!isFileOfBackup(read) && isSameContent(read, { content })) {
      own.newest.write(newest.name);
      return { name: newest.name, documents, unchanged: true, ...counts };
    }
  }
  const latest = [paths[0]?.name ?? '', last ?? ''].sort()[1];
  const name = newBackupName(created_at, random, latest || undefined);
  const manifest: TargetManifest = { database: db.name, device, created_at, documents, content };
  await calls.put(manifestPath(database, device, name), await writeManifest(manifest));
  await list.read({ device, name });
  list.expect({ device, name });
  own.newest.write(name);
  return { name, documents, unchanged: false, ...counts };
}

/** Whether a note says nothing that is right any more: its parts were stored again, or are gone. */
function isOver(
  { unused, damaged }: StoredNote,
  named: ReadonlySet<string>,
  listed: ReadonlySet<string>,
): boolean {
  if (unused.length > 0) return unused.some((path) => named.has(path));
  return damaged.every((path) => named.has(path) || !listed.has(path));
}

export interface OwnBackups {
  readonly calls: TargetCalls;
  readonly list: BackupList;
  readonly parts: PartStore;
  readonly notes: TargetNotes;
  /** The name of the newest backup, as this device remembers it: a list may lag behind. */
  readonly newest: { read(): string | undefined; write(name: string): void };
  readonly database: string;
  readonly device: string;
}

type Bytes = Uint8Array<ArrayBuffer>;

/**
 * Bytes of a part: the mean of many, and the least and most before compression. Only a longer line
 * exceeds the last.
 */
const MEAN = 256 * 1024;
const LEAST = 64 * 1024;
const MOST = 1024 * 1024;

/**
 * Bytes of a line that its hash is made of: they have its key and rank, which no other line of the
 * collection has.
 */
const HASHED = 512;

const LINE_FEED = 10;

/** The offset of FNV-1a. */
const START = 0x811c9dc5;

/**
 * The third byte of `{"format…` and of `{"end…`; those of records and binary data begin otherwise.
 */
const FRAMING = new Set([...'fe'].map((letter) => letter.charCodeAt(0)));

/** A header or end of a section as text, or a part with records. */
export type CutPiece = { readonly text: string } | { readonly part: Bytes };

/**
 * Cuts the lines of a backup file into parts, at lines that their own content chooses. So lines
 * that are added, changed or moved change the parts around them, and all other parts stay the same:
 * content-defined chunking, by lines. docs/decisions/044-backup-targets.md has the figures.
 */
export class PartCutter {
  /** The pieces of the current part, complete lines, then those of an unfinished line. */
  #pieces: Bytes[] = [];
  #size = 0;
  /** The unfinished line: bytes so far, their hash, its third byte. */
  #length = 0;
  #hash = START;
  #third = 0;

  *push(bytes: Bytes): Generator<CutPiece> {
    let from = 0;
    for (let at = 0; at < bytes.length; ) {
      const feed = bytes.indexOf(LINE_FEED, at);
      const end = feed < 0 ? bytes.length : feed + 1;
      this.#note(bytes, at, end);
      at = end;
      if (feed < 0) break;
      const length = this.#length;
      if (FRAMING.has(this.#third)) {
        const line = this.#takeLine(bytes, from, end, length);
        from = end;
        yield* line;
      } else if (this.#endsPart(this.#size + end - from, length)) {
        this.#keep(bytes.subarray(from, end));
        from = end;
        yield* this.#cut();
      }
      this.#startLine();
    }
    this.#keep(bytes.subarray(from));
  }

  /** The rest, after the last bytes. */
  *end(): Generator<CutPiece> {
    yield* this.#cut();
  }

  /** A framing line ends the part before it. */
  *#takeLine(bytes: Bytes, from: number, end: number, length: number): Generator<CutPiece> {
    this.#keep(bytes.subarray(from, end));
    const all = joinBytes(this.#pieces, this.#size);
    this.#reset();
    const before = all.subarray(0, all.length - length);
    if (before.length > 0) yield { part: before };
    yield { text: new TextDecoder().decode(all.subarray(before.length)) };
  }

  *#cut(): Generator<CutPiece> {
    if (this.#size === 0) return;
    const part = joinBytes(this.#pieces, this.#size);
    this.#reset();
    yield { part };
  }

  #endsPart(size: number, length: number): boolean {
    if (size < LEAST) return false;
    // In proportion to its length, so that the mean does not depend on the size of documents.
    return size >= MOST || mixed(this.#hash) < (length / MEAN) * 2 ** 32;
  }

  /** FNV-1a of the first bytes of a line. */
  #note(bytes: Bytes, from: number, end: number): void {
    const room = HASHED - this.#length;
    let hash = this.#hash;
    for (let at = from; at < Math.min(end, from + room); at++)
      hash = Math.imul(hash ^ (bytes[at] as number), 0x01000193);
    this.#hash = hash;
    const third = from + 2 - this.#length;
    if (third >= from && third < end) this.#third = bytes[third] as number;
    this.#length += end - from;
  }

  #startLine(): void {
    this.#length = 0;
    this.#hash = START;
    this.#third = 0;
  }

  #keep(bytes: Bytes): void {
    if (bytes.length === 0) return;
    this.#pieces.push(bytes);
    this.#size += bytes.length;
  }

  #reset(): void {
    this.#pieces = [];
    this.#size = 0;
  }
}

/** Spreads a hash over all 32 bits: the finalizer of MurmurHash3. */
function mixed(hash: number): number {
  let bits = hash;
  bits = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b);
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35);
  return (bits ^ (bits >>> 16)) >>> 0;
}

/**
 * The pieces of an export. Ended early, it ends the export, which unpins its snapshot.
 *
 * @param file The stream of `exportAll()`.
 */
async function* exportedPieces(file: ReadableStream<Uint8Array>): AsyncGenerator<CutPiece, void> {
  const cutter = new PartCutter();
  for await (const bytes of gunzip(bytesOf(file))) yield* cutter.push(bytes);
  yield* cutter.end();
}

/** Safari cannot iterate streams. */
async function* bytesOf(file: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array, void> {
  const reader = file.getReader();
  try {
    for (let read = await reader.read(); !read.done; read = await reader.read()) yield read.value;
  } finally {
    // An export that has failed rejects this too.
    await reader.cancel().catch(() => undefined);
  }
}
