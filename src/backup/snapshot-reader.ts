import type { Body } from '../codec/body.ts';
import type { Storage } from '../storage/driver.ts';
import { readListed, segmentLost } from '../storage/open-log.ts';
import { readRecords, type Segment, type SegmentBodies } from '../storage/segment.ts';
import type { FileRecord } from './file/file-contents.ts';
import { LiveRows } from './live-rows.ts';

/** Segments read in one request: about 1.5 MB. */
const AT_ONCE = 16;

/** Reads the records that a list of segments stands for, without holding more than a few segments of them. */
export class SnapshotReader {
  readonly #storage: Storage;
  readonly #collection: string;
  readonly #segments: readonly number[];
  readonly #rows: LiveRows;

  private constructor(
    storage: Storage,
    collection: string,
    segments: readonly number[],
    rows: LiveRows,
  ) {
    this.#storage = storage;
    this.#collection = collection;
    this.#segments = segments;
    this.#rows = rows;
  }

  /** @throws {StorageError} `data_damaged` when a segment is missing. */
  static async open(
    storage: Storage,
    collection: string,
    segments: readonly number[],
  ): Promise<SnapshotReader> {
    const rows = await LiveRows.find(
      (numbers, take) => readListed(storage, collection, numbers, take),
      segments,
    );
    return new SnapshotReader(storage, collection, segments, rows);
  }

  /** How many records there are. */
  get documents(): number {
    return this.#rows.count;
  }

  /** The records, segment by segment, in no order. */
  async *records(): AsyncGenerator<readonly FileRecord[], void> {
    let chunk = this.#read(0);
    for (let from = 0; from < this.#segments.length; from += AT_ONCE) {
      const [segments, bodies] = await chunk;
      chunk = this.#read(from + AT_ONCE);
      for (const [index, segment] of segments.entries()) {
        const number = this.#segments[from + index] as number;
        const whole = segment?.bodies ?? bodies[index]?.bodies;
        if (!segment || !whole) throw segmentLost(this.#collection, number);
        yield this.#liveOf(segment, whole);
      }
    }
  }

  #liveOf(segment: Segment, bodies: readonly Body[]): readonly FileRecord[] {
    const live: FileRecord[] = [];
    readRecords(segment, [], (record) => {
      if (!this.#rows.isLive(segment.number, record.index)) return;
      record.body = bodies[record.index];
      live.push(record as FileRecord);
    });
    return live;
  }

  #read(from: number) {
    const keys = this.#segments
      .slice(from, from + AT_ONCE)
      .map((number) => [this.#collection, number]);
    const reading = Promise.all([
      this.#storage.getMany('segments', keys) as Promise<(Segment | undefined)[]>,
      this.#storage.getMany('bodies', keys) as Promise<(SegmentBodies | undefined)[]>,
    ]);
    // Awaited after what was read before is written; until then a failure must not count as unhandled.
    reading.catch(() => undefined);
    return reading;
  }
}
