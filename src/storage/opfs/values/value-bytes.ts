import type { ByteBuffer } from './byte-buffer.ts';
import { addExact, type BlobContents, readExact } from './exact-parts.ts';
import { addList, type ItemEnds, isTextList, itemRange, readList } from './text-lists.ts';

type Bytes = Uint8Array<ArrayBuffer>;

const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

/** By name: offset of the items of a list, and how many they are. */
type Directory = Readonly<Record<string, readonly [at: number, count: number]>>;

/** Bytes of the trailer: the lengths of the directory and of the fields that are no lists. */
const TRAILER = 8;

/** Where a list lies in a value. */
export interface ListRange {
  /** Offset of the items in the value. */
  readonly at: number;
  readonly ends: ItemEnds;
}

/**
 * Appends a value. An encoded document can be read without the others of its segment: the end of
 * the value says where each is.
 *
 * ```
 * items of the lists | other fields | ends of the items, list by list | directory | trailer
 * ```
 *
 * @param value A plain object of what structured clone takes.
 * @throws {UnreadBlob}
 */
export function addValue(buffer: ByteBuffer, value: object, blobs: BlobContents): void {
  const start = buffer.length;
  const rest: Record<string, unknown> = {};
  const directory: Record<string, readonly [number, number]> = {};
  const allEnds: ItemEnds[] = [];
  for (const [name, field] of Object.entries(value)) {
    if (!isTextList(field)) {
      rest[name] = field;
      continue;
    }
    const at = buffer.length;
    allEnds.push(addList(buffer, field, blobs));
    directory[name] = [at - start, field.length];
  }
  const restAt = buffer.length;
  addExact(buffer, rest, blobs);
  const restLength = buffer.length - restAt;
  for (const ends of allEnds) buffer.add(new Uint8Array(ends.buffer));
  const directoryLength = buffer.addText(JSON.stringify(directory));
  const trailer = buffer.skip(TRAILER);
  buffer.view.setUint32(trailer, directoryLength, true);
  buffer.view.setUint32(trailer + 4, restLength, true);
}

/** Reads a whole value. @throws on bytes that are no value. */
export function readValue(bytes: Bytes): object {
  const lists = readLists(bytes);
  if (!lists) throw new RangeError('The value is too short.');
  let ends = 0;
  for (const list of lists.values()) ends += list.ends.byteLength;
  const { directoryAt, restLength } = readTrailer(bytes);
  const restEnd = directoryAt - ends;
  const rest = readExact(bytes.subarray(restEnd - restLength, restEnd));
  const value = rest as Record<string, unknown>;
  for (const [name, { at, ends }] of lists) {
    const { to } = itemRange(ends, ends.length - 1);
    value[name] = readList(bytes.subarray(at, at + to), ends);
  }
  return value;
}

/**
 * The lists of a value, by name; `undefined` if more bytes are needed.
 *
 * @param bytes The last bytes of the value.
 */
export function readLists(bytes: Bytes): Map<string, ListRange> | undefined {
  const { directoryAt, trailerAt } = readTrailer(bytes);
  if (directoryAt < 0) return undefined;
  const directory: Directory = JSON.parse(decoder.decode(bytes.subarray(directoryAt, trailerAt)));
  const entries = Object.entries(directory);
  const count = entries.reduce((sum, [, [, items]]) => sum + items, 0);
  let from = directoryAt - count * 4;
  if (from < 0) return undefined;
  const lists = new Map<string, ListRange>();
  for (const [name, [at, items]] of entries) {
    // A copy: numbers may lie at any offset.
    const ends = new Uint32Array(bytes.slice(from, from + items * 4).buffer);
    lists.set(name, { at, ends });
    from += items * 4;
  }
  return lists;
}

function readTrailer(bytes: Bytes) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const trailerAt = bytes.length - TRAILER;
  return {
    trailerAt,
    directoryAt: trailerAt - view.getUint32(trailerAt, true),
    restLength: view.getUint32(trailerAt + 4, true),
  };
}
