import { type Body, decode, encode } from '../../codec/body.ts';
import { hiddenName } from '../../storage/collection-name.ts';
import { SegmentLog } from '../../storage/log/segment-log.ts';
import { StoredRecord } from '../../storage/segments/stored-record.ts';
import type { CollectionContext } from '../collections/collection-context.ts';
import type { RecordState } from '../protocol/replica-protocol.ts';
import { RecordStore } from '../records/record-store.ts';
import { FoldedRecords } from '../records/table/folded-records.ts';
import { SaveSchedule } from '../saving/save-schedule.ts';
import { OpenSnapshots } from '../snapshots/open-snapshots.ts';

/** Bits of an entry, above those of managed values. */
const DIRTY = 64;
const HAS_BASE = 32;

/** Keys of entries begin with this: an id may be anything. */
const ENTRY = 'd';
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
 * The log of a replica, beside the one of its collection: entries of documents that differ from the server's, and the
 * replica's state. Both are saved together.
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
    await this.#read();
    await this.#records.bodies.load();
  }

  /** Opens it empty. */
  async clear(): Promise<void> {
    await this.#read();
    const { log } = this.#records;
    if (!log.exists) return;
    await log.drop([]);
    this.#records.take(new FoldedRecords([], true));
  }

  async #read(): Promise<void> {
    const { log } = this.#records;
    const folded = new FoldedRecords([], true);
    await log.open({ take: (segment, hashes) => folded.fold(segment, hashes) });
    folded.finish(log.segments);
    this.#records.take(folded);
  }

  /** As {@link SegmentLog.recordTakeover}. */
  recordTakeover(): Promise<void> {
    return this.saves.alone(() => this.#records.log.recordTakeover());
  }

  /** Removes it from storage. */
  async drop(): Promise<void> {
    await this.saves.leave();
    await this.#records.log.drop([]);
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
    const record = this.#records.get(ENTRY + id);
    if (record) this.#records.delete(record);
  }

  /** Whether the entry of a document is in storage as it is now. */
  isSaved(id: string): boolean {
    return this.#records.get(ENTRY + id)?.segment !== 0;
  }

  /** The ids of all entries. */
  *ids(): Generator<string> {
    for (const key of this.#records.keys()) if (key.startsWith(ENTRY)) yield key.slice(1);
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
