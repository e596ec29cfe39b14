import { fromBase64, toBase64 } from '../../codec/exact-json/base64.ts';
import { decodeExact } from '../../codec/exact-json/exact-decoding.ts';
import { type ExactJson, encodeExact, TooLong } from '../../codec/exact-json/exact-encoding.ts';
import { nameOf } from '../../codec/kinds.ts';
import {
  clearMarks,
  keptKeys,
  readKept,
  removeKept,
  writeKept,
} from '../../platform/page-store.ts';
import type {
  RecoveryKey,
  RecoveryRecord,
  UnloadJournals,
} from '../../protocol/recovery-records.ts';
import type { AcknowledgedChange, OpenedHandles, Request } from '../../protocol/requests.ts';

/** Longest change that is encoded at all, in characters. */
const MAX_ENCODED_LENGTH = 32 * 1024 * 1024;

/** Begins the text of a journal that only the key of the database opens. */
export const SEALED_JOURNAL = 'sealed ';

/**
 * Unload journals are lines of text in `localStorage`, whose writes are synchronous and never wait
 * for IndexedDB. The next page, or the leader, reads them.
 */
export const unloadJournals: UnloadJournals = {
  write(database, { changes, ...head }, isGapless = false) {
    const lines = [encodeLine(head) as string];
    let room = JOURNAL_ROOM;
    for (const change of changes) {
      const line = encodeLine(change);
      if (line === undefined && !isGapless) continue;
      if (line === undefined || line.length > room) break;
      room -= line.length;
      lines.push(line);
    }
    const key = journalKey(database, [head.client, head.ending]);
    // A head alone is not worth a write.
    return storeLines(key, lines, '', 1) - 1;
  },

  read(database) {
    const journals: RecoveryRecord[] = [];
    for (const key of journalKeys(database)) {
      const text = readKept(key);
      if (text === undefined || text.startsWith(SEALED_JOURNAL)) continue;
      try {
        const journal = readJournal(text);
        // Under another key `forget` would never find it.
        if (key !== journalKey(database, [journal.client, journal.ending]))
          throw new TypeError('another key');
        journals.push(journal);
      } catch (error) {
        removeKept(key);
        console.warn(
          `cairndb removed a damaged unload journal of "${database}" from localStorage (${error}): ` +
            'another script has written to it.',
        );
      }
    }
    return journals;
  },

  forget(database, journals) {
    const keys = journalKeys(database);
    for (const key of journals.map((journal) => journalKey(database, journal)))
      if (keys.includes(key)) removeKept(key);
  },

  clear(database) {
    for (const key of journalKeys(database)) removeKept(key);
    clearMarks(database);
  },

  onWritten(database, listener) {
    const prefix = prefixOf(database);
    const heard = ({ key, newValue }: StorageEvent) =>
      newValue !== null && key?.startsWith(prefix) && listener();
    addEventListener('storage', heard);
    return () => removeEventListener('storage', heard);
  },
};

export function journalKeys(database: string): string[] {
  const prefix = prefixOf(database);
  return keptKeys().filter((key) => key.startsWith(prefix));
}

/**
 * Stores as many lines as there is room for, the first ones; none where the user forbids
 * `localStorage`.
 *
 * @param worthless How many lines are not worth a write.
 * @returns how many lines are stored, `worthless` if none.
 */
export function storeLines(
  key: string,
  lines: readonly string[],
  prefix: string,
  worthless = 0,
): number {
  let fitting = worthless;
  let tooMany = lines.length + 1;
  // By bisection.
  for (let tried = lines.length; tried > fitting; tried = (fitting + tooMany) >> 1) {
    if (writeKept(key, prefix + lines.slice(0, tried).join('\n'))) fitting = tried;
    else tooMany = tried;
  }
  return fitting;
}

/**
 * @throws {TypeError} where the text is no journal: an engine that crashed over it would get it
 *   again.
 */
function readJournal(text: string): RecoveryRecord {
  const [head = '', ...lines] = text.split('\n');
  const { opened, ...rest } = decodeLine(head) as RecoveryRecord;
  if (!opened.every(isOpened)) throw new TypeError('no collections');
  const changes = lines.map((line) => decodeLine(line) as AcknowledgedChange);
  if (!changes.every(isChange)) throw new TypeError('no changes');
  return { ...rest, opened, changes };
}

function isOpened([handle, { name, type, indexes }]: OpenedHandles[number]): boolean {
  return (
    [typeof handle, typeof name, typeof type].join() === 'number,string,string' &&
    Array.isArray(indexes)
  );
}

function isChange({ turn, number, request }: AcknowledgedChange): boolean {
  return [typeof turn, typeof number, typeof request.op].join() === 'number,number,string';
}

/**
 * JSON, then its binary values in base64, separated by tabs, which JSON text never contains.
 *
 * @returns `undefined` for a change with a Blob, which cannot be read synchronously, with a key or
 *   handle, and for a change that is too long.
 */
function encodeLine(value: unknown): string | undefined {
  let encoded: ExactJson;
  try {
    encoded = encodeExact(value, MAX_ENCODED_LENGTH);
  } catch (error) {
    if (error instanceof TooLong) return undefined;
    throw error;
  }
  const { json, binaries } = encoded;
  const parts = [json];
  for (const binary of binaries) {
    if (!(binary instanceof Uint8Array)) return undefined;
    parts.push(toBase64(binary));
  }
  return parts.join('\t');
}

function decodeLine(line: string): unknown {
  const [json = '', ...bytes] = line.split('\t');
  return decodeExact(JSON.parse(json), {
    takeBytes: (index) => fromBase64(bytes[index as number] ?? ''),
    takeParts: () => [],
  });
}

function prefixOf(database: string): string {
  return `cairn:${JSON.stringify([database]).slice(0, -1)},`;
}

/** In JSON: both names may contain any character. */
export function journalKey(database: string, left: RecoveryKey): string {
  return `cairn:${JSON.stringify([database, ...left])}`;
}

/**
 * Characters of an unload journal at most: browsers give an origin five million, which the app
 * needs too.
 */
export const JOURNAL_ROOM = 1024 * 1024;

/** Characters of a journaled change beside its request. */
const OVERHEAD = 80;

/**
 * An upper bound of the characters that a change takes in the unload journal; infinite for a Blob,
 * which cannot be read synchronously, and for a key or handle, which text cannot hold.
 */
export function journalSize(request: Request): number {
  return OVERHEAD + sizeOf(request);
}

function sizeOf(value: unknown): number {
  // JSON in a string: each quote and backslash is escaped once more.
  if (typeof value === 'string') return 2 * value.length + 2;
  if (typeof value === 'bigint') return 32 + value.toString(16).length;
  if (typeof value === 'number') return 24;
  if (typeof value !== 'object' || value === null) return 20;
  if (value instanceof ArrayBuffer || ArrayBuffer.isView(value)) return 64 + 2 * value.byteLength;
  if (/^(?:Blob|File|CryptoKey)/.test(nameOf(value))) return Number.POSITIVE_INFINITY;
  let size = 32;
  if (value instanceof Map) {
    for (const [key, item] of value) size += sizeOf(key) + sizeOf(item);
  } else if (value instanceof Set) {
    for (const item of value) size += sizeOf(item);
  } else if (value instanceof RegExp) {
    size += 2 * value.source.length;
  } else {
    // Own keys only: the length of a sparse array may be four billion.
    for (const key of Object.keys(value))
      size += key.length + 4 + sizeOf((value as Record<string, unknown>)[key]);
  }
  return size;
}
