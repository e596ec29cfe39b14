import { type Body, type DecodedBody, peek } from '../../codec/body.ts';
import { bodySize } from '../../codec/size.ts';
import type { SegmentBodies } from '../../storage/segments/segment.ts';
import type { StoredRecord } from '../../storage/segments/stored-record.ts';
import type { Coroutine } from '../scheduling/coroutine.ts';
import type { Pace } from '../scheduling/pace.ts';
import { BodyReader, bySegment } from './body-reader.ts';
import type { RecordStore } from './record-store.ts';

/** Records that are looked at together: all in memory, or all in one segment. */
interface Block {
  readonly records: StoredRecord[];
  /** The segment to read first, 0 for none. */
  readonly segment: number;
  /** No record in this or a later block has a lower order. */
  floor: number;
}

/** A record that a scan came by, with its body. */
export interface Visited {
  readonly record: StoredRecord;
  readonly body: Body;
}

/** When a scan pauses. */
export interface ScanLimits {
  /** Records that have passed. */
  readonly limit?: number;
  /** Characters of their bodies. */
  readonly size?: number;
  /** The greatest rank that still counts. */
  readonly bound?: { readonly worst: number };
}

const UNBOUNDED = { worst: Number.POSITIVE_INFINITY };

/** Decides about a record; the decoded value is made on demand. */
export type RecordTest = (record: StoredRecord, body: Body) => boolean;

/**
 * Goes over the records as they were when it began. What is in memory comes in order; what is not comes
 * segment by segment, each read once, so that a scan takes one pass over storage whatever the order the
 * documents were changed in. `floor` says up to where the order is certain.
 */
export class Scan {
  readonly #store: RecordStore;
  readonly #blocks: Block[];
  readonly #reader: BodyReader;
  /** Those of the segment that is being gone through. */
  #bodies: SegmentBodies | undefined;
  readonly #pace: Pace;
  readonly #release: () => void;
  #block = 0;
  #index = 0;

  constructor(store: RecordStore, pace: Pace) {
    this.#store = store;
    this.#pace = pace;
    this.#release = store.pin();
    this.#blocks = store.bodies.comeInOrder ? [inMemory(store.list())] : blocksOf(store.list());
    const numbers = this.#blocks.map(({ segment }) => segment).filter((number) => number > 0);
    this.#reader = new BodyReader(store.log, numbers);
  }

  get done(): boolean {
    return this.#block >= this.#blocks.length;
  }

  /** No record still to come has a lower order. */
  get floor(): number {
    const block = this.#blocks[this.#block];
    if (!block) return Number.POSITIVE_INFINITY;
    const next = this.#blocks[this.#block + 1]?.floor ?? Number.POSITIVE_INFINITY;
    return Math.min(block.records[this.#index]?.rank ?? next, next);
  }

  /** Goes on until so many records or bytes have passed the test, or none that counts can come any more. */
  *next(
    test: RecordTest,
    {
      limit = Number.POSITIVE_INFINITY,
      size = Number.POSITIVE_INFINITY,
      bound = UNBOUNDED,
    }: ScanLimits = {},
  ): Coroutine<Visited[]> {
    const found: Visited[] = [];
    let room = size;
    for (let block = this.#blocks[this.#block]; block; block = this.#blocks[this.#block]) {
      const { records, segment, floor } = block;
      if (floor > bound.worst) break;
      if (segment > 0 && this.#bodies?.number !== segment) {
        this.#bodies = yield* this.#reader.take(segment);
      }
      while (this.#index < records.length) {
        if (this.#pace.due) {
          yield* this.#pace.pause();
          // Given up meanwhile.
          if (this.done) return found;
        }
        const record = records[this.#index++] as StoredRecord;
        const body =
          this.#store.bodies.in(record, this.#bodies) ??
          (yield* this.#store.bodies.inOrder(record));
        if (!test(record, body)) continue;
        found.push({ record, body });
        room -= bodySize(body);
        if (found.length >= limit || room <= 0) {
          if (this.#index === records.length) this.#nextBlock();
          return found;
        }
      }
      this.#nextBlock();
    }
    return found;
  }

  /** Must be called when a scan is given up or done: it keeps compaction waiting. */
  end(): void {
    this.#block = this.#blocks.length;
    this.#release();
  }

  #nextBlock(): void {
    this.#block++;
    this.#index = 0;
  }
}

function inMemory(records: readonly StoredRecord[]): Block {
  return { records: records as StoredRecord[], segment: 0, floor: records[0]?.rank ?? 0 };
}

function blocksOf(records: readonly StoredRecord[]): Block[] {
  const blocks = Array.from(bySegment(records), ([segment, group]) => ({
    records: group,
    segment,
    floor: group[0]?.rank ?? 0,
  }));
  // Ascending by their first record, which is also the least of everything that follows.
  return blocks.sort((a, b) => a.floor - b.floor);
}

/** What is delivered of a cached record to a reader in this thread: it is kept decoded, which is copied faster than parsed. */
export function bodyAtHand(record: StoredRecord, body: Body): Body | DecodedBody {
  return typeof body === 'string' ? { decoded: decodedValue(record, body, true) } : body;
}

/** The decoded value of a record; a cached collection keeps it once it was needed. */
export function decodedValue(record: StoredRecord, body: Body, keep: boolean): unknown {
  if (record.value !== undefined) return record.value;
  const value = peek(body);
  if (keep) record.value = value;
  return value;
}
