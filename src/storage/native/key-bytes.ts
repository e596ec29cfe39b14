import type { StorageKey, StoreName } from '../drivers/driver.ts';

type Bytes = Uint8Array<ArrayBuffer>;

/** The first byte of a key. Stored: they never change. */
const STORES: Record<StoreName, number> = {
  collections: 1,
  segments: 2,
  bodies: 3,
  snapshots: 4,
  leadership: 5,
  recovery: 6,
};

const NUMBER = 0x10;
const TEXT = 0x20;
/** Above the first byte of every part. */
const ABOVE = 0xff;

/** The end of a text, below all that a text has. */
const END = 0;
/** What stands before code unit 0 or 1. */
const ESCAPE = 1;

/** A key as bytes that sort as keys do; those of a prefix begin those of its keys alone. */
export function encodeKey(store: StoreName, key: StorageKey): Bytes {
  const bytes = [STORES[store]];
  for (const part of key) {
    if (typeof part === 'number') addNumber(bytes, part);
    else addText(bytes, part);
  }
  return new Uint8Array(bytes);
}

export function rangeOf(store: StoreName, prefix: StorageKey): { gte: Bytes; lt: Bytes } {
  const gte = encodeKey(store, prefix);
  const lt = new Uint8Array(gte.length + 1);
  lt.set(gte);
  lt[gte.length] = ABOVE;
  return { gte, lt };
}

/** Reads what {@link encodeKey} has made. */
export function decodeKey(bytes: Uint8Array): StorageKey {
  const key: (string | number)[] = [];
  for (let at = 1; at < bytes.length; ) {
    if (bytes[at] === NUMBER) {
      key.push(readNumber(bytes, at + 1));
      at += 9;
    } else {
      const end = bytes.indexOf(END, at);
      key.push(readText(bytes.subarray(at + 1, end)));
      at = end + 1;
    }
  }
  return key;
}

/**
 * Big-endian, with the sign turned round, and of negative numbers all bits: then bytes sort as
 * numbers do.
 */
function addNumber(bytes: number[], number: number): void {
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, number === 0 ? 0 : number); // no -0
  const isNegative = view.getUint8(0) >= 0x80;
  bytes.push(NUMBER);
  for (let at = 0; at < 8; at++)
    bytes.push(view.getUint8(at) ^ (isNegative ? 0xff : at === 0 ? 0x80 : 0));
}

function readNumber(bytes: Uint8Array, from: number): number {
  const view = new DataView(new ArrayBuffer(8));
  const isNegative = (bytes[from] as number) < 0x80;
  for (let at = 0; at < 8; at++)
    view.setUint8(at, (bytes[from + at] as number) ^ (isNegative ? 0xff : at === 0 ? 0x80 : 0));
  return view.getFloat64(0);
}

/**
 * Each UTF-16 code unit as UTF-8 would have it: UTF-8 of whole characters sorts those above U+FFFF
 * last.
 */
function addText(bytes: number[], text: string): void {
  bytes.push(TEXT);
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit <= ESCAPE) bytes.push(ESCAPE, unit + 1);
    else if (unit < 0x80) bytes.push(unit);
    else if (unit < 0x800) bytes.push(0xc0 | (unit >> 6), 0x80 | (unit & 0x3f));
    else bytes.push(0xe0 | (unit >> 12), 0x80 | ((unit >> 6) & 0x3f), 0x80 | (unit & 0x3f));
  }
  bytes.push(END);
}

function readText(bytes: Uint8Array): string {
  let text = '';
  for (let at = 0; at < bytes.length; ) {
    const next = () => bytes[at++] as number;
    const first = next();
    let unit = first;
    if (first === ESCAPE) unit = next() - 1;
    else if (first >= 0xe0)
      unit = ((first & 0x0f) << 12) | ((next() & 0x3f) << 6) | (next() & 0x3f);
    else if (first >= 0xc0) unit = ((first & 0x1f) << 6) | (next() & 0x3f);
    text += String.fromCharCode(unit);
  }
  return text;
}
