import type { WireChange } from '../codec/exact-json/wire-changes.ts';
import type { WireDocument } from '../codec/exact-json/wire-documents.ts';
import type { PullAnswer } from '../replication/protocol/http-answers.ts';
import {
  ABSENT,
  ANSWER_FULL,
  DEVICES,
  DOCUMENT_BYTES,
  formatCheckpoint,
  KEYS,
  PAGE_BYTES,
  parseCheckpoint,
  randomHex,
  replicaOf,
  START,
  type Store,
  type StoredRow,
  type StoreResult,
  type StoreRow,
  TOO_LARGE,
  Waiters,
} from './store.ts';

/** A {@link Store} in memory, see {@link memory}. */
export interface MemoryStore extends Store {
  /**
   * A store with the present documents and another history, as after the restore of a backup:
   * clients begin anew.
   */
  copy(): MemoryStore;
}

class StoreInMemory implements MemoryStore {
  readonly #collections: Map<string, Collection>;
  readonly #waiters = new Waiters();
  /** The ids that clients of a scope have had, by collection and scope. */
  readonly #served = new Map<string, Set<string>>();

  constructor(collections: Map<string, Collection>) {
    this.#collections = collections;
  }

  async pull(name: string, after: string | undefined, limit: number): Promise<PullAnswer> {
    const from = after === undefined || after === START ? undefined : parseCheckpoint(after);
    const collection = this.#collections.get(name);
    const { epoch = '0', log } = collection ?? {};
    const reset = from !== undefined && (from.epoch !== epoch || from.seq > (log?.newest ?? 0));
    const start = reset ? 0 : (from?.seq ?? 0);
    const { rows, more } = log?.after(start, limit) ?? { rows: [], more: false };
    const seq = (more ? rows.at(-1)?.seq : log?.newest) ?? 0;
    const checkpoint = formatCheckpoint({ epoch, seq });
    const isLarge = ({ bytes }: MemoryRow) => bytes > DOCUMENT_BYTES;
    const large = rows.filter(isLarge);
    return {
      changes: rows.filter((row) => !isLarge(row)).map(toChange),
      ...{ checkpoint, more, ...(reset && { reset }) },
      ...(large.length > 0 && { rejected: large.map(({ id }) => ({ id, reason: TOO_LARGE })) }),
    };
  }

  async push(name: string, rows: readonly StoreRow[]): Promise<StoreResult[]> {
    const collection = this.#collections.get(name) ?? { epoch: randomHex(8), log: new ChangeLog() };
    const { log } = collection;
    const random = randomHex(6);
    let bytes = 0;
    const results = rows.map((row) => {
      const result = pushOne(log, row, random, bytes);
      if ('conflict' in result || ('document' in result && result.document))
        bytes += log.get(row.id)?.bytes ?? 0;
      return result;
    });
    if (log.newest > 0) this.#collections.set(name, collection);
    this.#waiters.ring(name, log.newest);
    return results;
  }

  async read(name: string, ids: readonly string[]): Promise<StoredRow[]> {
    const log = this.#collections.get(name)?.log;
    return [...new Set(ids)].flatMap((id) => {
      const row = log?.get(id);
      if (!row) return [];
      const { version, keys, versions, json } = row;
      return [{ id, version, keys, versions, document: json === undefined ? null : parse(json) }];
    });
  }

  async served(name: string, scope: string, ids: readonly string[], asked: readonly string[]) {
    const place = JSON.stringify([name, scope]);
    const known = this.#served.get(place) ?? new Set();
    this.#served.set(place, known);
    for (const id of ids) known.add(id);
    return asked.filter((id) => known.has(id));
  }

  async watch(name: string, after: string, signal: AbortSignal): Promise<boolean> {
    const from = parseCheckpoint(after);
    const { epoch = '0', log } = this.#collections.get(name) ?? {};
    const newest = log?.newest ?? 0;
    if (newest !== from.seq || epoch !== from.epoch) return !signal.aborted;
    return this.#waiters.wait(name, from.seq, signal);
  }

  copy(): MemoryStore {
    const copies = Array.from(this.#collections, ([name, { log }]) => {
      return [name, { epoch: randomHex(8), log: log.copy() }] as const;
    });
    return new StoreInMemory(new Map(copies));
  }
}

/**
 * A store in memory, for tests and demos: it forgets everything when the process ends.
 *
 * @example
 * ```ts
 * const handler = createHandler({ store: memory(), authorize: () => true });
 * ```
 */
export function memory(): MemoryStore {
  return new StoreInMemory(new Map());
}

interface Collection {
  readonly epoch: string;
  readonly log: ChangeLog;
}

const parse = (json: string): WireDocument => JSON.parse(json) as WireDocument;
const encoder = new TextEncoder();

/** @param bytes Of the documents in the results before. */
function pushOne(log: ChangeLog, row: StoreRow, random: string, bytes: number): StoreResult {
  const { id, base = ABSENT, key, document, seen } = row;
  const present = log.get(id);
  const before = present?.keys.indexOf(key) ?? -1;
  if (present && before >= 0) return madeBefore(present, before, document, bytes);
  const version = present?.version ?? ABSENT;
  if (seen !== undefined && seen !== version) return { stale: true };
  const gone = present?.json === undefined;
  if (document === undefined && gone) return { version };
  if (base !== version && !(base === ABSENT && gone)) {
    return (
      refusalOf(present, bytes) ?? {
        conflict: present ? toChange(present) : { id, version, deleted: true },
      }
    );
  }
  const seq = log.newest + 1;
  const made = `${seq}-${random}`;
  log.put({
    id,
    version: made,
    seq,
    ...remembered([key, ...(present?.keys ?? [])], [made, ...(present?.versions ?? [])]),
    ...sized(document && JSON.stringify(document)),
  });
  return { version: made };
}

/** The keys that are kept, with their versions. */
function remembered(
  keys: readonly string[],
  versions: readonly string[],
): Pick<MemoryRow, 'keys' | 'versions'> {
  const devices = new Set<string>();
  const isKept = keys.map((key, index) => {
    const isNew = !devices.has(replicaOf(key));
    devices.add(replicaOf(key));
    return index < KEYS || isNew;
  });
  const kept = <T>(list: readonly T[]) => list.filter((_, at) => isKept[at]).slice(0, DEVICES);
  return { keys: kept(keys), versions: kept(versions) };
}

/**
 * A repeated push. If the document was deleted since, the answer is the one of the first time: the
 * deletion comes with the next pull.
 */
function madeBefore(
  row: MemoryRow,
  index: number,
  document: WireDocument | undefined,
  bytes: number,
): StoreResult {
  const { version, versions, json } = row;
  const made = versions[index] as string;
  // Operations may have made another document than was pushed.
  const isAsPushed = index === 0 && json === JSON.stringify(document);
  if (isAsPushed || json === undefined) return { version: made };
  return refusalOf(row, bytes) ?? { version, document: parse(json), made };
}

/** The result that stands for one with a document which does not fit. */
function refusalOf(row: MemoryRow | undefined, bytes: number): StoreResult | undefined {
  if (!row || row.bytes === 0) return undefined;
  if (row.bytes > DOCUMENT_BYTES) return { rejected: { reason: TOO_LARGE } };
  return bytes >= PAGE_BYTES ? ANSWER_FULL : undefined;
}

function sized(json: string | undefined): Pick<MemoryRow, 'json' | 'bytes'> {
  return { json, bytes: json === undefined ? 0 : encoder.encode(json).length };
}

function toChange({ id, version, keys, json }: MemoryRow): WireChange {
  const change = { id, version, key: keys[0] as string };
  if (json === undefined) return { ...change, deleted: true };
  return { ...change, document: parse(json) };
}

/** A row of the memory store. A change replaces it by another. */
interface MemoryRow {
  readonly id: string;
  readonly version: string;
  readonly seq: number;
  /** Of the last accepted pushes, newest first, with the versions that these made. */
  readonly keys: readonly string[];
  readonly versions: readonly string[];
  /** JSON, so that nobody shares its objects; `undefined`: deleted. */
  readonly json: string | undefined;
  /** Of the JSON in UTF-8. */
  readonly bytes: number;
}

/** The newest state of each document, in the order of the changes. */
class ChangeLog {
  readonly #rows = new Map<string, MemoryRow>();
  /** By number; replaced rows stay until there are as many as present ones. */
  #order: MemoryRow[] = [];

  get newest(): number {
    return this.#order.at(-1)?.seq ?? 0;
  }

  get(id: string): MemoryRow | undefined {
    return this.#rows.get(id);
  }

  put(row: MemoryRow): void {
    this.#rows.set(row.id, row);
    this.#order.push(row);
    if (this.#order.length > 2 * this.#rows.size + 16) {
      this.#order = this.#order.filter((each) => this.#rows.get(each.id) === each);
    }
  }

  /** The rows after a number, until the limit or the bytes are reached. */
  after(seq: number, limit: number): { rows: MemoryRow[]; more: boolean } {
    const rows: MemoryRow[] = [];
    let bytes = 0;
    const from = this.#order.findLastIndex((row) => row.seq <= seq) + 1;
    for (let at = from; at < this.#order.length; at++) {
      const row = this.#order[at] as MemoryRow;
      if (this.#rows.get(row.id) !== row) continue;
      if (rows.length === limit || bytes >= PAGE_BYTES) return { rows, more: true };
      rows.push(row);
      bytes += row.bytes;
    }
    return { rows, more: false };
  }

  copy(): ChangeLog {
    const copy = new ChangeLog();
    for (const row of this.#order) if (this.#rows.get(row.id) === row) copy.put(row);
    return copy;
  }
}
