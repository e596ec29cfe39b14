import type { Body } from '../codec/body.ts';
import { hashText } from '../codec/hash-text.ts';
import type { Storage } from '../storage/drivers/driver.ts';
import { intactBodies } from '../storage/integrity/body-checks.ts';
import { hashKeys, repeatedHashes } from '../storage/segments/key-hashes.ts';
import { documentLost, segmentLost } from '../storage/segments/lost-data.ts';
import { readListed, type TakeSegment } from '../storage/segments/read-segments.ts';
import { readStamps, type Segment, type SegmentBodies } from '../storage/segments/segment.ts';
import { readIntact } from '../storage/segments/stored-segment.ts';
import type { FileHeader, FilePart, FileRecord } from './file/file-contents.ts';

/** Rough bytes of one read. The next read runs ahead, so twice as many are in memory. */
const AT_ONCE = 1.5 * 2 ** 20;

/** Segments as stored, and their bodies. */
type Read = [segments: unknown[], bodies: (SegmentBodies | undefined)[]];

/** Reads the live records of a list of segments, a few segments at a time. */
export class SnapshotReader {
  readonly #storage: Storage;
  readonly #collection: string;
  /** Segments of each read, in ascending order. */
  readonly #groups: readonly (readonly number[])[];
  readonly #rows: LiveRecords;

  private constructor(
    storage: Storage,
    collection: string,
    groups: readonly (readonly number[])[],
    rows: LiveRecords,
  ) {
    this.#storage = storage;
    this.#collection = collection;
    this.#groups = groups;
    this.#rows = rows;
  }

  /** @throws {StorageError} `data_damaged` when a segment is missing or damaged. */
  static async open(
    storage: Storage,
    collection: string,
    segments: readonly number[],
  ): Promise<SnapshotReader> {
    const sizes = new Map<number, number>();
    const rows = await LiveRecords.find(
      (numbers, take) =>
        readListed(storage, collection, numbers, (segment, hashes) => {
          sizes.set(segment.number, segment.size);
          take(segment, hashes);
        }),
      segments,
    );
    return new SnapshotReader(storage, collection, groupsOf(sizes), rows);
  }

  /** The header, completed by the number of documents, then the records of each segment. */
  async *section(header: Omit<FileHeader, 'documents'>): AsyncGenerator<FilePart, void> {
    const { count: documents } = this.#rows;
    // Most collections are read by then: a drop comes before or after the whole section.
    const first = await this.#read(0);
    yield { kind: 'header', header: { ...header, documents } };
    for await (const records of this.#records(first)) yield { kind: 'records', records };
    yield { kind: 'end', documents };
  }

  async *#records(first: Read): AsyncGenerator<readonly FileRecord[], void> {
    let reading = Promise.resolve(first);
    for (const [index, numbers] of this.#groups.entries()) {
      const [segments, bodies] = await reading;
      reading = this.#read(index + 1);
      for (const [at, number] of numbers.entries()) {
        const { segment } = readIntact(this.#collection, number, segments[at]);
        const whole = intactBodies(segment.bodies ?? bodies[at]?.bodies, segment.checks);
        if (!whole) throw segmentLost(this.#collection, number, 'has lost its documents');
        yield this.#liveOf(segment, whole);
      }
    }
  }

  #liveOf(segment: Segment, bodies: readonly (Body | undefined)[]): readonly FileRecord[] {
    const { number, keys, ranks, flags, stamps } = segment;
    const isLive = this.#rows.isLive(number);
    const live: FileRecord[] = [];
    for (let index = 0; index < keys.length; index++) {
      if (!isLive(index)) continue;
      const key = keys[index] as string;
      const body = bodies[index];
      if (body === undefined) throw documentLost(this.#collection, number, key);
      live.push({
        key,
        order: ranks[index] as number,
        flags: flags[index] as number,
        stamps: stamps && readStamps(stamps, index),
        body,
      });
    }
    return live;
  }

  #read(index: number): Promise<Read> {
    const keys = (this.#groups[index] ?? []).map((number) => [this.#collection, number]);
    const reading = Promise.all([
      this.#storage.getMany('segments', keys),
      this.#storage.getMany('bodies', keys) as Promise<(SegmentBodies | undefined)[]>,
    ]);
    // Awaited later: a failure must not count as unhandled until then.
    reading.catch(() => undefined);
    return reading;
  }
}

/** @param sizes By segment number, in ascending order. */
function groupsOf(sizes: ReadonlyMap<number, number>): readonly (readonly number[])[] {
  const groups: number[][] = [];
  let room = 0;
  for (const [number, size] of sizes) {
    room -= size;
    const last = groups.at(-1);
    if (last && room >= 0) {
      last.push(number);
      continue;
    }
    groups.push([number]);
    room = AT_ONCE - size;
  }
  return groups;
}

/** Reads segments by their numbers, in the order given. */
type ReadSegments = (numbers: readonly number[], take: TakeSegment) => Promise<void>;

/**
 * The live records of a list of segments: the latest version of each key. Hashes of the keys find
 * the few keys that may occur twice; only their segments are read a second time, so not all keys
 * are in memory.
 */
export class LiveRecords {
  /** By segment: 1 for each superseded record. */
  readonly #dead = new Map<number, Uint8Array>();
  #count = 0;

  /** @param numbers In ascending order: the highest wins. */
  static async find(read: ReadSegments, numbers: readonly number[]): Promise<LiveRecords> {
    const rows = new LiveRecords();
    /** Hashes of put and deleted keys, by segment. */
    const hashes = new Map<number, Uint32Array>();
    await read(numbers, ({ number, keys, deletes }, put) => {
      rows.#count += keys.length;
      hashes.set(number, deletes.length > 0 ? hashKeys([...keys, ...deletes]) : put);
    });
    const repeated = repeatedHashes(hashes.values());
    const again = numbers
      .filter((number) => repeated.size > 0 && hashes.get(number)?.some((one) => repeated.has(one)))
      .reverse();
    /** Keys with a newer version. */
    const newer = new Set<string>();
    await read(again, (segment) => rows.#take(segment, repeated, newer));
    return rows;
  }

  get count(): number {
    return this.#count;
  }

  isLive(segment: number): (index: number) => boolean {
    const dead = this.#dead.get(segment);
    return dead ? (index) => dead[index] !== 1 : () => true;
  }

  #take(
    { number, keys, deletes }: Segment,
    repeated: ReadonlySet<number>,
    newer: Set<string>,
  ): void {
    const dead = new Uint8Array(keys.length);
    for (const [index, key] of keys.entries()) {
      if (!repeated.has(hashText(key))) continue;
      if (newer.has(key)) {
        dead[index] = 1;
        this.#count--;
      } else newer.add(key);
    }
    // Deletes of a segment apply before its records.
    for (const key of deletes) if (repeated.has(hashText(key))) newer.add(key);
    this.#dead.set(number, dead);
  }
}
