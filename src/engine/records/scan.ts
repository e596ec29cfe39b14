import type { Coroutine } from '../../async/coroutine.ts';
import type { Pace } from '../../async/pace.ts';
import { type Body, type DecodedBody, peek } from '../../codec/body.ts';
import { bodySize } from '../../codec/size.ts';
import type { SegmentBodies } from '../../storage/segments/segment.ts';
import type { StoredRecord } from '../../storage/segments/stored-record.ts';
import { BodyReader } from './record-bodies.ts';
import type { Records } from './record-store.ts';

/** Records that are scanned together: all in memory, or all in one segment. */
interface Block {
  readonly records: readonly StoredRecord[];
  /** The segment to read first, 0 for none. */
  readonly segment: number;
  /** No record in this or a later block has a lower rank. */
  readonly floor: number;
}

/** A record that a scan found, with its body. */
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
 * Visits the records as they were when it began. Records in memory come in order; others come
 * segment by segment, each read once: a scan takes one pass over storage, in whatever order
 * documents were changed. `floor` says up to which rank the order is certain.
 */
export class Scan {
  readonly #store: Records;
  readonly #blocks: Block[];
  readonly #reader: BodyReader;
  /** The bodies of the segment being scanned. */
  #bodies: SegmentBodies | undefined;
  readonly #pace: Pace;
  readonly #release: () => void;
  #block = 0;
  #index = 0;

  constructor(store: Records, pace: Pace) {
    this.#store = store;
    this.#pace = pace;
    this.#release = store.pin();
    const records = store.list();
    const isInOrder = store.bodies.comeInOrder;
    this.#reader = new BodyReader(store.log, isInOrder ? [] : records);
    const groups = isInOrder ? [[0, records] as const] : [...this.#reader.groups];
    // Ascending by their first record, which has the lowest rank of it and of all that follow.
    this.#blocks = groups.map(([segment, group]) => ({
      records: group,
      segment,
      floor: group[0]?.rank ?? 0,
    }));
  }

  get done(): boolean {
    return this.#block >= this.#blocks.length;
  }

  /** No later record has a lower rank. */
  get floor(): number {
    const block = this.#blocks[this.#block];
    if (!block) return Number.POSITIVE_INFINITY;
    const next = this.#blocks[this.#block + 1]?.floor ?? Number.POSITIVE_INFINITY;
    return Math.min(block.records[this.#index]?.rank ?? next, next);
  }

  /** Scans until the limits are reached, or no later record can count. */
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
          // Ended meanwhile.
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

  /** Must be called at the end: a scan keeps compaction waiting. */
  end(): void {
    this.#block = this.#blocks.length;
    this.#release();
  }

  #nextBlock(): void {
    this.#block++;
    this.#index = 0;
  }
}

/**
 * The body of a cached record for a reader in this thread: decoded, since copying is faster than
 * parsing.
 */
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
