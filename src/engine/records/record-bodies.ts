import { type Coroutine, run, wait } from '../../async/coroutine.ts';
import { nextTurn } from '../../async/next-turn.ts';
import { RoomForReads } from '../../async/room-for-reads.ts';
import type { Body } from '../../codec/body.ts';
import type { SegmentLog } from '../../storage/log/segment-log.ts';
import { documentLost } from '../../storage/segments/lost-data.ts';
import type { RecordPart } from '../../storage/segments/record-part.ts';
import type { SegmentBodies } from '../../storage/segments/segment.ts';
import type { StoredRecord } from '../../storage/segments/stored-record.ts';
import type { RecordTable } from './table/record-table.ts';

/** Bodies of one segment that are read one by one, where storage can. */
const FEW = 16;

/** Segments that one read may need while others have filled the room beside caching. */
const FEW_SEGMENTS = 16;

/** Segments loaded between two turns of the event loop. Files are read without one. */
const SLICE = 8;

/** How often loading makes room for reads: about a second in all. */
const ROOM = 200;

/** Loads all bodies, once for all readers that wait: scans follow it. */
class BodyLoad {
  /** Settles when all are loaded; rejects with the first failure. */
  done: Promise<void> = Promise.resolve();
  /** Resolves after the next segment, or at the end. */
  step: Promise<void> = Promise.resolve();
  /** For others that read bodies meanwhile. */
  readonly room: RoomForReads;
  #advance: () => void = () => undefined;

  /** @param segments That there are. */
  constructor(segments: number) {
    this.room = new RoomForReads(ROOM, segments);
    this.advance();
  }

  advance(): void {
    this.#advance();
    this.step = new Promise((resolve) => {
      this.#advance = resolve;
    });
  }
}

/** The bodies of a collection's records: in memory, or read from their segments. */
export class RecordBodies {
  readonly #log: SegmentLog;
  readonly #table: RecordTable;
  readonly #guard: CompactionGuard;
  readonly #caching: boolean;
  #load: BodyLoad | undefined;
  /** May be false when every record has its body, never the other way round. */
  #resident = true;

  constructor(log: SegmentLog, table: RecordTable, guard: CompactionGuard, caching: boolean) {
    this.#log = log;
    this.#table = table;
    this.#guard = guard;
    this.#caching = caching;
  }

  /** Whether all bodies are in memory, so that no read has to wait. */
  get resident(): boolean {
    return this.#resident;
  }

  /** Other records have taken the place of all. */
  replaced(resident: boolean): void {
    this.#resident = resident;
  }

  /** Drops the body of a saved record, unless the collection is cached. */
  saved(record: StoredRecord): void {
    if (this.#caching) return;
    record.body = undefined;
    record.value = undefined;
    this.#resident = false;
  }

  /** The same with all records of a part. */
  savedPart(part: RecordPart): void {
    part.eachMade((record) => this.saved(record));
    if (!this.#caching && part.dropBodies()) this.#resident = false;
  }

  /** Drops what can be read again from storage. */
  clear(): void {
    for (const part of this.#table.parts) if (part.dropBodies()) this.#resident = false;
    this.#table.eachMade((record) => {
      record.value = undefined;
      record.shared = undefined;
      if (record.segment === 0) return;
      record.body = undefined;
      this.#resident = false;
    });
  }

  /** The body of a record, read from its segment if need be. */
  *of(record: StoredRecord): Coroutine<Body> {
    if (record.body !== undefined) return record.body;
    this.#load?.room.noteRead(1);
    const release = this.#guard.pin();
    try {
      // Compaction may move the record while its segment is being read.
      for (;;) {
        const { segment } = record;
        const body = this.#readsItem(segment)
          ? yield* this.#item(record)
          : this.in(record, yield* this.#segment(segment));
        if (body !== undefined) return body;
      }
    } finally {
      release();
    }
  }

  /** The body of a record where it is in memory, so that nothing has to wait. */
  atHand(record: StoredRecord): Body | undefined {
    return record.body ?? this.in(record, this.#log.bodies.peek(record.segment));
  }

  /** The bodies of records; all segments that have to be read are read at once. */
  *ofAll(records: readonly StoredRecord[]): Coroutine<Body[]> {
    const missing = records.filter((record) => record.body === undefined);
    const read = new Map<number, SegmentBodies>();
    const numbers = new Map<number, number>();
    for (const { segment } of missing) numbers.set(segment, (numbers.get(segment) ?? 0) + 1);
    const whole = Array.from(numbers)
      .filter(([number, count]) => count > FEW || !this.#readsItem(number))
      .map(([number]) => number);
    if (whole.length > FEW_SEGMENTS && this.#load?.room.isFull) {
      // A failure is that of another segment, perhaps.
      yield this.#load.done.catch(() => undefined);
      return yield* this.ofAll(records);
    }
    if (whole.length > 0) {
      this.#load?.room.noteRead(whole.length);
      yield Promise.all(
        whole.map(async (number) => read.set(number, await this.#log.bodies.load(number))),
      );
    }
    const bodies: Body[] = [];
    for (const record of records) {
      // A pending record may have been saved, and dropped its body, meanwhile.
      bodies.push(this.in(record, read.get(record.segment)) ?? (yield* this.of(record)));
    }
    return bodies;
  }

  /**
   * The body of a record if it is resident or in this segment; a cached collection keeps it.
   *
   * @throws {StorageError} `data_damaged` when the segment should have it and has not.
   */
  in(record: StoredRecord, segment: SegmentBodies | undefined): Body | undefined {
    if (record.body !== undefined) return record.body;
    if (record.segment !== segment?.number) return undefined;
    const body = segment.bodies[record.index];
    // Returning `undefined` would send the reader to the same segment for ever.
    if (body === undefined) throw documentLost(this.#log.name, segment.number, record.key);
    if (this.#caching) record.body = body;
    return body;
  }

  /** Makes every body resident, as caching wants it, or joins the load that does. */
  load(): Promise<void> {
    if (this.#resident) return Promise.resolve();
    if (!this.#load) {
      const release = this.#guard.pin();
      const load = new BodyLoad(this.#log.segments.size);
      this.#load = load;
      load.done = Promise.resolve(run(this.#loadMissing(load))).finally(() => {
        this.#load = undefined;
        release();
        load.advance();
      });
    }
    return this.#load.done;
  }

  *#loadMissing(load: BodyLoad): Coroutine<void> {
    let left = SLICE;
    for (;;) {
      const missing = this.#table.list().filter(({ body }) => body === undefined);
      // Here and not when the promise settles: the cache may be cleared in between.
      this.#resident ||= missing.length === 0;
      if (missing.length === 0) return;
      const reader = new BodyReader(this.#log, missing, load.room);
      for (const [number, group] of reader.groups) {
        const bodies = yield* reader.take(number);
        for (const record of group) this.in(record, bodies);
        this.#log.bodies.release(number);
        load.advance();
        if (--left > 0) continue;
        left = SLICE;
        yield nextTurn();
      }
    }
  }

  /**
   * Whether a scan gets bodies in the order of the records: they are in memory, or are being loaded
   * in order.
   */
  get comeInOrder(): boolean {
    return this.#resident || this.#load !== undefined;
  }

  /** The body of a record, for a scan in order: follows the load that is under way. */
  *inOrder(record: StoredRecord): Coroutine<Body> {
    while (record.body === undefined && this.#load) yield this.#load.step;
    return record.body ?? (yield* this.of(record));
  }

  /** Whether one body is read by itself: its segment is not in memory, and storage can. */
  #readsItem(segment: number): boolean {
    const { bodies } = this.#log;
    return bodies.readsItems && segment !== 0 && !bodies.peek(segment);
  }

  /** @throws {StorageError} `data_damaged` when the segment should have it and has not. */
  *#item(record: StoredRecord): Coroutine<Body | undefined> {
    const { segment, index } = record;
    const body = yield* wait(this.#log.bodies.loadItem(segment, index));
    if (body === undefined && record.segment === segment && record.body === undefined)
      throw documentLost(this.#log.name, segment, record.key);
    // A saved version never changes: that holds where compaction has moved the record meanwhile,
    // too.
    if (body !== undefined && this.#caching) record.body = body;
    return body ?? record.body;
  }

  *#segment(number: number): Coroutine<SegmentBodies> {
    const atHand = this.#log.bodies.peek(number);
    return atHand ?? (yield* wait(this.#log.bodies.load(number)));
  }
}

/**
 * Keeps compaction and readers apart: a reader that waits remembers segments by their number, and
 * records by their rows, and they must not be removed meanwhile.
 */
export class CompactionGuard {
  #pins = 0;

  /** Keeps compaction away. Returns the release. */
  pin(): () => void {
    this.#pins++;
    return () => {
      this.#pins--;
    };
  }

  /** Whether compaction has to wait. */
  get pinned(): boolean {
    return this.#pins > 0;
  }
}

/** Segments read ahead at the most: about 1.5 MB. */
const READ_AHEAD = 16;
/** The same while others read from storage, which wait behind these: a few milliseconds. */
const READ_AHEAD_SHARED = 2;

/**
 * Reads the bodies of records segment by segment, and the next few segments ahead. It begins with
 * one and doubles, so that a reader that stops early has read little.
 */
export class BodyReader {
  /** The records by the segment that has to be read for them, 0 for those in memory. */
  readonly groups: ReadonlyMap<number, readonly StoredRecord[]>;
  readonly #log: SegmentLog;
  readonly #numbers: readonly number[];
  /** Reads that were begun and not taken yet. */
  readonly #ahead = new Map<number, Promise<SegmentBodies>>();
  readonly #room: RoomForReads | undefined;
  #asked = 0;
  #step = 1;

  /** @param room For others that read from storage. */
  constructor(log: SegmentLog, records: Iterable<StoredRecord>, room?: RoomForReads) {
    this.groups = bySegment(records, ({ body, segment }) => (body === undefined ? segment : 0));
    this.#log = log;
    this.#numbers = [...this.groups.keys()].filter((number) => number > 0);
    this.#room = room;
  }

  /** The bodies of the next group; `undefined` for the one in memory. */
  *take(number: number): Coroutine<SegmentBodies | undefined> {
    if (number === 0) return undefined;
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

export function bySegment(
  records: Iterable<StoredRecord>,
  segmentOf: (record: StoredRecord) => number,
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
