import { type Coroutine, run, wait } from '../../async/coroutine.ts';
import { nextTurn } from '../../async/next-turn.ts';
import type { RoomForReads } from '../../async/room-for-reads.ts';
import type { SegmentLog } from '../../storage/log/segment-log.ts';
import type { SegmentBodies } from '../../storage/segments/segment.ts';
import type { StoredRecord } from '../../storage/segments/stored-record.ts';

/** Segments between two turns of the event loop: a few milliseconds. Files are read without one. */
const SLICE = 8;

/**
 * Loads the bodies of a cached collection into memory, once for all readers that wait: a scan
 * follows it instead of reading the same segments again.
 */
export class BodyLoader {
  /** Settles when all are loaded; rejects with the first failure. */
  readonly done: Promise<void>;
  /** For others that read bodies meanwhile. */
  readonly room: RoomForReads;
  readonly #log: SegmentLog;
  readonly #keep: (record: StoredRecord, bodies: SegmentBodies) => void;
  #step: Promise<void> = Promise.resolve();
  #advance: () => void = () => undefined;

  /**
   * @param missing The records that have no body, in order, as of now; it ends when there are none.
   */
  constructor(
    log: SegmentLog,
    missing: () => readonly StoredRecord[],
    keep: (record: StoredRecord, bodies: SegmentBodies) => void,
    room: RoomForReads,
  ) {
    this.#log = log;
    this.#keep = keep;
    this.room = room;
    this.#nextStep();
    this.done = Promise.resolve(run(this.#load(missing))).finally(() => this.#advance());
  }

  /** Resolves after the next segment, or at the end. */
  get step(): Promise<void> {
    return this.#step;
  }

  *#load(missing: () => readonly StoredRecord[]): Coroutine<void> {
    let left = SLICE;
    for (let records = missing(); records.length > 0; records = missing()) {
      const groups = bySegment(records);
      const reader = new BodyReader(this.#log, [...groups.keys()], this.room);
      for (const [number, group] of groups) {
        const bodies = yield* reader.take(number);
        for (const record of group) this.#keep(record, bodies);
        this.#log.bodies.release(number);
        this.#advance();
        this.#nextStep();
        if (--left > 0) continue;
        left = SLICE;
        yield nextTurn();
      }
    }
  }

  #nextStep(): void {
    this.#step = new Promise((resolve) => {
      this.#advance = resolve;
    });
  }
}

/** Segments read ahead at the most: about 1.5 MB. */
const READ_AHEAD = 16;
/** The same while others read from storage, which wait behind these: a few milliseconds. */
const READ_AHEAD_SHARED = 2;

/**
 * Reads the bodies of segments one after another, and the next few ahead. It begins
 * with one and doubles, so that a reader that stops early has read little.
 */
export class BodyReader {
  readonly #log: SegmentLog;
  readonly #numbers: readonly number[];
  /** Reads that were begun and not taken yet. */
  readonly #ahead = new Map<number, Promise<SegmentBodies>>();
  readonly #room: RoomForReads | undefined;
  #asked = 0;
  #step = 1;

  /**
   * @param numbers Segments in the order in which they will be wanted.
   * @param room For others that read from storage.
   */
  constructor(log: SegmentLog, numbers: readonly number[], room?: RoomForReads) {
    this.#log = log;
    this.#numbers = numbers;
    this.#room = room;
  }

  /** The bodies of the next segment, which has this number. */
  *take(number: number): Coroutine<SegmentBodies> {
    if (!this.#ahead.has(number)) this.#askMore();
    const bodies = yield* wait(this.#ahead.get(number) as Promise<SegmentBodies>);
    this.#ahead.delete(number);
    // Requested before the caller processes these bodies: reading and processing overlap.
    if (this.#ahead.size < this.#step) this.#askMore();
    return bodies;
  }

  #askMore(): void {
    const numbers = this.#numbers.slice(this.#asked, this.#asked + this.#step);
    this.#asked += numbers.length;
    this.#step = Math.min(this.#step * 2, this.#room?.take() ? READ_AHEAD_SHARED : READ_AHEAD);
    for (const number of numbers) {
      const reading = this.#log.bodies.load(number);
      // The read that takes it reports its failure; none may ever do.
      reading.catch(() => undefined);
      this.#ahead.set(number, reading);
    }
  }
}

/**
 * Records by segment: by the one that has to be read for them, 0 for those in memory, if not told
 * otherwise.
 */
export function bySegment(
  records: Iterable<StoredRecord>,
  segmentOf = segmentToRead,
): Map<number, StoredRecord[]> {
  const groups = new Map<number, StoredRecord[]>();
  for (const record of records) {
    const segment = segmentOf(record);
    const group = groups.get(segment);
    if (group) group.push(record);
    else groups.set(segment, [record]);
  }
  return groups;
}

function segmentToRead({ body, segment }: StoredRecord): number {
  return body === undefined ? segment : 0;
}
