import type { SegmentLog } from '../../storage/log/segment-log.ts';
import type { SegmentBodies } from '../../storage/segments/segment.ts';
import type { StoredRecord } from '../../storage/segments/stored-record.ts';
import { type Coroutine, run } from '../scheduling/coroutine.ts';
import { nextTurn } from '../scheduling/next-turn.ts';
import type { RoomForReads } from '../scheduling/room-for-reads.ts';
import { BodyReader, bySegment } from './body-reader.ts';

/** Segments between two turns of the event loop: a few milliseconds. Files are read without one. */
const SLICE = 8;

/**
 * Loads the bodies of a cached collection into memory, once for all readers that wait: a scan follows
 * it instead of reading the same segments again.
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
