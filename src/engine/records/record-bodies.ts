import { type Coroutine, wait } from '../../async/coroutine.ts';
import { RoomForReads } from '../../async/room-for-reads.ts';
import type { Body } from '../../codec/body.ts';
import type { SegmentLog } from '../../storage/log/segment-log.ts';
import { documentLost } from '../../storage/segments/lost-data.ts';
import type { RecordPart } from '../../storage/segments/record-part.ts';
import type { SegmentBodies } from '../../storage/segments/segment.ts';
import type { StoredRecord } from '../../storage/segments/stored-record.ts';
import { BodyLoader } from './body-loader.ts';
import type { RecordTable } from './table/record-table.ts';

/** Bodies of one segment that are read one by one, where storage can. */
const FEW = 16;

/** Segments that one read may need while others have filled the room beside caching. */
const FEW_SEGMENTS = 16;

/** How often loading makes room for reads: about a second in all. */
const ROOM = 200;

/** The bodies of a collection's records: in memory, or read from their segments. */
export class RecordBodies {
  readonly #log: SegmentLog;
  readonly #table: RecordTable;
  readonly #guard: CompactionGuard;
  readonly #caching: boolean;
  #loader: BodyLoader | undefined;
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
    this.#loader?.room.noteRead(1);
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

  /** The bodies of records; all segments that have to be read are read at once. */
  *ofAll(records: readonly StoredRecord[]): Coroutine<Body[]> {
    const missing = records.filter((record) => record.body === undefined);
    const read = new Map<number, SegmentBodies>();
    const numbers = new Map<number, number>();
    for (const { segment } of missing) numbers.set(segment, (numbers.get(segment) ?? 0) + 1);
    const whole = Array.from(numbers)
      .filter(([number, count]) => count > FEW || !this.#readsItem(number))
      .map(([number]) => number);
    if (whole.length > FEW_SEGMENTS && this.#loader?.room.isFull) {
      // A failure is that of another segment, perhaps.
      yield this.#loader.done.catch(() => undefined);
      return yield* this.ofAll(records);
    }
    if (whole.length > 0) {
      this.#loader?.room.noteRead(whole.length);
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
    if (!this.#loader) {
      const release = this.#guard.pin();
      const loader = new BodyLoader(
        this.#log,
        () => {
          const missing = this.#table.list().filter((record) => record.body === undefined);
          // Here and not when the promise settles: the cache may be cleared in between.
          this.#resident ||= missing.length === 0;
          return missing;
        },
        (record, bodies) => this.in(record, bodies),
        new RoomForReads(ROOM, this.#log.segments.size),
      );
      this.#loader = loader;
      const ended = () => {
        this.#loader = undefined;
        release();
      };
      loader.done.then(ended, ended);
    }
    return this.#loader.done;
  }

  /**
   * Whether a scan gets bodies in the order of the records: they are in memory, or are being loaded
   * in order.
   */
  get comeInOrder(): boolean {
    return this.#resident || this.#loader !== undefined;
  }

  /** The body of a record, for a scan in order: follows the load that is under way. */
  *inOrder(record: StoredRecord): Coroutine<Body> {
    while (record.body === undefined && this.#loader) yield this.#loader.step;
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
 * they must not be removed meanwhile.
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
