import { type Body, decode, encode, peek } from '../../codec/body.ts';
import { hiddenName } from '../../storage/collection-name.ts';
import { SegmentLog } from '../../storage/log/segment-log.ts';
import { StoredRecord } from '../../storage/segments/stored-record.ts';
import type { CollectionContext } from '../collections/collection-context.ts';
import type { Push, RecordState } from '../protocol/replica-protocol.ts';
import { RecordStore } from '../records/record-store.ts';
import { FoldedRecords } from '../records/table/folded-records.ts';
import { SaveSchedule } from '../saving/save-schedule.ts';
import { OpenSnapshots } from '../snapshots/open-snapshots.ts';

/** Bits of an entry, above those of managed values. */
const DIRTY = 64;
const HAS_BASE = 32;

/** Keys of entries begin with this: an id may be anything. */
const ENTRY = 'd';
const PUSHES = 'p';
const STATE = 's';

/** What a replica knows of a document beyond its record. */
export interface Entry {
  /** The server's version that the document derives from. */
  readonly version: string | undefined;
  /** Whether the document has changed since. */
  readonly isDirty: boolean;
  /** The server's state at that version, where the document has changed since. */
  readonly base: RecordState | undefined;
}

/**
 * The log of a replica, beside the one of its collection: entries of documents that differ from the server's, pushes
 * without an answer, and the replica's state. Both are saved together.
 */
export class ReplicaLog {
  readonly saves: SaveSchedule;
  readonly #records: RecordStore;

  constructor(context: CollectionContext) {
    const { settings, storage, pool, durability, clock, events, links } = context;
    const log = new SegmentLog({
      ...{ storage, pool, durability },
      name: hiddenName('replica', settings.name),
      type: 'REPLICA',
      caching: true,
      columns: () => [],
      epoch: () => storage.epoch(),
      referenced: async () => new Set<number>(),
    });
    // No transaction reads it.
    this.#records = new RecordStore(log, clock, true, new OpenSnapshots());
    const silent = {
      saved: () => undefined,
      released: () => undefined,
      failed: events.failed.bind(events),
    };
    this.saves = new SaveSchedule(this.#records, settings, clock, silent, links);
  }

  async open(): Promise<void> {
    const { log, bodies } = this.#records;
    const folded = new FoldedRecords([], true);
    await log.open({ take: (segment, hashes) => folded.fold(segment, hashes) });
    folded.finish(log.segments);
    this.#records.take(folded);
    await bodies.load();
  }

  /** As {@link SegmentLog.recordTakeover}. */
  recordTakeover(): Promise<void> {
    return this.saves.alone(() => this.#records.log.recordTakeover());
  }

  get state(): unknown {
    const record = this.#records.get(STATE);
    return record && decode(record.body as Body);
  }

  set state(state: object) {
    this.#put(STATE, 0, undefined, encode(state, 'state'), undefined);
  }

  get(id: string): Entry | undefined {
    const record = this.#records.get(ENTRY + id);
    if (!record) return undefined;
    const { flags, stamps, body } = record;
    const base: RecordState = [flags & ~(DIRTY | HAS_BASE), stamps, body as Body];
    return {
      version: record.remoteVersion,
      isDirty: (flags & DIRTY) !== 0,
      base: (flags & HAS_BASE) !== 0 ? base : undefined,
    };
  }

  put(id: string, { version, isDirty, base }: Entry): void {
    const [flags, stamps, body] = base ?? [0, undefined, 'null'];
    const bits = (isDirty ? DIRTY : 0) | (base ? HAS_BASE : 0);
    this.#put(ENTRY + id, flags | bits, stamps, body, version);
  }

  delete(id: string): void {
    this.#delete(ENTRY + id);
  }

  /** The pushes of a document without an answer, oldest first. */
  pushes(id: string): readonly Push[] {
    const record = this.#records.get(PUSHES + id);
    return record ? (peek(record.body as Body) as Push[]) : [];
  }

  setPushes(id: string, pushes: readonly Push[]): void {
    if (pushes.length === 0) this.#delete(PUSHES + id);
    else this.#put(PUSHES + id, 0, undefined, encode(pushes, 'pushes'), undefined);
  }

  #delete(key: string): void {
    const record = this.#records.get(key);
    if (record) this.#records.delete(record);
  }

  /** Whether the entry of a document is in storage as it is now. */
  isSaved(id: string): boolean {
    return this.#records.get(ENTRY + id)?.segment !== 0;
  }

  /** The ids of all entries; of documents with pushes. */
  *ids(kind: 'd' | 'p' = ENTRY): Generator<string> {
    for (const key of this.#records.keys()) if (key.startsWith(kind)) yield key.slice(1);
  }

  #put(
    key: string,
    flags: number,
    stamps: StoredRecord['stamps'],
    body: Body,
    version: string | undefined,
  ): void {
    const rank = this.#records.get(key)?.rank ?? this.#records.takeRank();
    const record = new StoredRecord(key, rank, flags, stamps, body);
    record.remoteVersion = version;
    this.#records.put(record);
  }
}
