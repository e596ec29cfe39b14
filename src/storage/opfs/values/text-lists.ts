import type { ByteBuffer } from './byte-buffer.ts';
import { addExact, type BlobContents, readExact } from './exact-parts.ts';

type Bytes = Uint8Array<ArrayBuffer>;

/** The end of each item, in bytes from the start of the list, with {@link EXACT}. */
export type ItemEnds = Uint32Array<ArrayBuffer>;

const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

/** Marks the end of an item that is no text. Lists have less than 2 GB. */
const EXACT = 0x8000_0000;

/** Items of fewer characters on average are keys and the like, and no documents. */
const SHORT = 64;

/** What JSON escapes. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: JSON escapes these.
const ESCAPED = /["\\\u0000-\u001f]/;

/** Whether an array is stored as a list: its items can be read one by one. */
export function isTextList(value: unknown): value is readonly unknown[] {
  return Array.isArray(value) && value.length > 0 && value.every(isItem);
}

/** Texts, and the encoded documents that are no text. */
function isItem(item: unknown): boolean {
  return typeof item === 'string' || (typeof item === 'object' && item !== null && 'exact' in item);
}

/** Appends the items of a list. */
export function addList(
  buffer: ByteBuffer,
  items: readonly unknown[],
  blobs: BlobContents,
): ItemEnds {
  const start = buffer.length;
  const ascii = addAsciiItems(buffer, items);
  if (ascii) return ascii;
  buffer.length = start;
  const ends = new Uint32Array(items.length);
  for (const [index, item] of items.entries()) {
    const isText = typeof item === 'string' && item.isWellFormed();
    if (isText) buffer.addText(item);
    else addExact(buffer, item, blobs);
    ends[index] = (buffer.length - start) | (isText ? 0 : EXACT);
  }
  return ends;
}

/** All at once, which is several times faster, if each character is one byte. */
function addAsciiItems(buffer: ByteBuffer, items: readonly unknown[]): ItemEnds | undefined {
  if (!items.every((item) => typeof item === 'string')) return undefined;
  const text = items.join('');
  if (buffer.addText(text) !== text.length) return undefined;
  const ends = new Uint32Array(items.length);
  let end = 0;
  for (let index = 0; index < items.length; index++) {
    end += (items[index] as string).length;
    ends[index] = end;
  }
  return ends;
}

/** Reads a whole list. @param content The bytes of its items. */
export function readList(content: Bytes, ends: ItemEnds): unknown[] {
  const text = decoder.decode(content);
  const isAscii = text.length === content.length;
  const items: unknown[] = [];
  let hasTexts = isAscii;
  for (let index = 0; index < ends.length; index++) {
    const { from, to, isText } = itemRange(ends, index);
    if (isText && isAscii) items.push(text.slice(from, to));
    else {
      items.push(readItem(content.subarray(from, to), isText));
      hasTexts = false;
    }
  }
  const isShort = hasTexts && text.length < ends.length * SHORT;
  return isShort && !ESCAPED.test(text) ? withoutParent(items) : items;
}

/**
 * Parsed anew. V8 makes `slice()` a view of the whole text, which is hashed four times slower than
 * a text of its own (10,000 keys in an opening: 7.8 and 1.9 ms).
 */
function withoutParent(items: readonly unknown[]): unknown[] {
  return JSON.parse(`["${items.join('","')}"]`);
}

/** Where an item lies in the list, in bytes. */
export function itemRange(
  ends: ItemEnds,
  index: number,
): { from: number; to: number; isText: boolean } {
  const end = ends[index] as number;
  const from = index === 0 ? 0 : (ends[index - 1] as number) & ~EXACT;
  return { from, to: end & ~EXACT, isText: end >>> 31 === 0 };
}

/** Reads one item. @param bytes Those of its range. */
export function readItem(bytes: Bytes, isText: boolean): unknown {
  return isText ? decoder.decode(bytes) : readExact(bytes);
}
