import type { SegmentLog } from '../../storage/log/segment-log.ts';
import type { SegmentBodies } from '../../storage/segments/segment.ts';
import type { StoredRecord } from '../../storage/segments/stored-record.ts';
import { type Coroutine, wait } from '../scheduling/coroutine.ts';
import type { RoomForReads } from '../scheduling/room-for-reads.ts';

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

/** Records by segment: by the one that has to be read for them, 0 for those in memory, if not told otherwise. */
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
