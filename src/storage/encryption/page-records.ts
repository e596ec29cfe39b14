import { ByteBuffer } from '../opfs/values/byte-buffer.ts';
import { addValue, readValue } from '../opfs/values/value-bytes.ts';
import { type Bytes, SEALED, unseal } from './sealing.ts';

/** What one frame of a page's record has: changes, collections that changes are about, or both. */
export interface PageFrame {
  readonly database?: string | undefined;
  readonly opened: readonly (readonly [handle: number, settings: object])[];
  readonly changes: readonly object[];
}

/** What a recovery record says in clear. */
export interface PageRecordPlace {
  readonly client: string;
  readonly ending: number;
  /** The id of the database. One that was deleted since had another id, and another key. */
  readonly database?: string | undefined;
}

/** A recovery record as an encrypted database stores it: text, as in `localStorage`. */
export interface SealedPageRecord extends PageRecordPlace {
  readonly sealed: string;
  /** Its key in storage, which a listing of values does not tell. */
  readonly key: readonly [client: string, ending: number];
}

const NO_BLOBS = new Map<Blob, Bytes>();

/** The bytes of a frame. @throws {UnreadBlob}: a page that ends cannot read Blobs. */
export function frameBytes(frame: PageFrame): Bytes {
  const buffer = new ByteBuffer();
  addValue(buffer, frame, NO_BLOBS);
  return buffer.written;
}

/** What a frame is sealed for: it may be written each time its page is hidden, so no ending. */
export function framePlace(client: string): string {
  return JSON.stringify(['page', client]);
}

/**
 * A line of a sealed record: a sealed frame as `packBytes` returns it, and the positions of its
 * changes that no longer count. Those are in clear: who can write to the disk can remove a record
 * as well.
 */
export function frameLine(text: string, omitted: readonly number[]): string {
  return omitted.join() + text;
}

/**
 * Opens what a page wrote as it was hidden or ended: its frames, as one recovery record.
 *
 * @throws {Error} for anything else.
 */
export async function openPageRecord(
  pages: CryptoKey,
  [client, ending]: SealedPageRecord['key'],
  sealed: string,
): Promise<PageFrame & { readonly client: string; readonly ending: number }> {
  const lines = sealed.split('\n');
  const frames = await Promise.all(lines.map((line) => openFrame(pages, client, line)));
  const database = frames.findLast((frame) => frame.database !== undefined)?.database;
  const opened = [...new Map(frames.flatMap((frame) => frame.opened))];
  return { client, ending, database, opened, changes: frames.flatMap(({ changes }) => changes) };
}

async function openFrame(pages: CryptoKey, client: string, line: string): Promise<PageFrame> {
  const [omitted = ''] = /^[\d,]*/.exec(line) ?? [];
  const bytes = unpackBytes(line.slice(omitted.length));
  const frame = readValue(await unseal(pages, SEALED.page, bytes, framePlace(client))) as PageFrame;
  const isOmitted = new Set(omitted === '' ? [] : omitted.split(',').map(Number));
  return { ...frame, changes: frame.changes.filter((_, at) => !isOmitted.has(at)) };
}

/** Bits of a character from U+4000 to U+BFFF: every browser stores all of these as they are. */
const BITS = 15;
const FIRST = 0x4000;

/**
 * Bytes as text, at 15 bits a character: `localStorage` counts characters. The last one tells the
 * length.
 */
export function packBytes(bytes: Uint8Array): string {
  const codes = new Uint16Array(Math.ceil((bytes.length * 8) / BITS) + 1);
  let count = 0;
  let bits = 0;
  let held = 0;
  for (const byte of bytes) {
    held = (held << 8) | byte;
    bits += 8;
    if (bits < BITS) continue;
    bits -= BITS;
    codes[count++] = FIRST + (held >> bits);
    held &= (1 << bits) - 1;
  }
  if (bits > 0) codes[count++] = FIRST + (held << (BITS - bits));
  codes[count] = FIRST + (bytes.length % BITS);
  let text = '';
  // More arguments than this overflow the stack of some engines.
  const SLICE = 8192;
  for (let at = 0; at < codes.length; at += SLICE)
    text += String.fromCharCode(...codes.subarray(at, at + SLICE));
  return text;
}

/** Reads what {@link packBytes} returns; anything else becomes other bytes. */
export function unpackBytes(text: string): Uint8Array<ArrayBuffer> {
  const count = Math.max(0, text.length - 1);
  const longest = Math.floor((count * BITS) / 8);
  const rest = (text.charCodeAt(count) - FIRST) % BITS;
  // The length is known modulo 15, and the characters leave at most one byte open.
  const length = longest % BITS === rest ? longest : Math.max(0, longest - 1);
  const bytes = new Uint8Array(length);
  let bits = 0;
  let held = 0;
  let at = 0;
  for (let index = 0; index < count && at < length; index++) {
    held = (held << BITS) | (text.charCodeAt(index) - FIRST);
    bits += BITS;
    while (bits >= 8 && at < length) {
      bits -= 8;
      bytes[at++] = held >> bits;
      held &= (1 << bits) - 1;
    }
  }
  return bytes;
}
