import { run } from '../../async/coroutine.ts';
import { addSnapshot } from '../../backup/named-snapshots.ts';
import type { Snapshot } from '../../backup/snapshot.ts';
import type { Body } from '../../codec/body.ts';
import type { EngineEvents } from '../../protocol/event-protocol.ts';
import { intactBodies } from '../../storage/integrity/body-checks.ts';
import type { LogWrite, UndoablePut } from '../../storage/log/log-writes.ts';
import { swapping } from '../../storage/log/replace-log.ts';
import type { SegmentState } from '../../storage/segments/compaction.ts';
import type { TakeSegment } from '../../storage/segments/read-segments.ts';
import type { Segment } from '../../storage/segments/segment.ts';
import type { StoredRecord } from '../../storage/segments/stored-record.ts';
import { putSegment } from '../../storage/segments/stored-segment.ts';
import type { CollectionContext } from '../collection-context.ts';
import {
  extractKeys,
  lackingColumns,
  uniqueViolation,
  writeColumns,
} from '../documents/index-builder.ts';
import { Loading } from '../loading.ts';
import type { FoldedRecords } from '../records/table/folded-records.ts';
import type { CollectionBackups } from './collection-backups.ts';

export interface ReplacedBy {
  readonly version: number;
  readonly backup?: string | undefined;
  /** Whether they are those of the collection, migrated. */
  readonly isMigration?: boolean;
  readonly migrated?: Omit<EngineEvents['migration'], 'collection' | 'backup'>;
}

interface ReplacementOptions {
  readonly safety: SafetyBackup;
  readonly version: number;
  /** Whether they are those of the collection, migrated. */
  readonly isMigration?: boolean | undefined;
  readonly replaced: () => void;
}

/**
 * Replaces all records of a collection by those of a list of segments, all or nothing: reads the
 * list into memory aside, makes it the live one in one write, then takes its records over.
 */
export class Replacement {
  readonly #context: CollectionContext;
  readonly #options: ReplacementOptions;
  readonly #loading: Loading;
  #states: ReadonlyMap<number, SegmentState> = new Map();
  /**
   * Those with the column of a unique index that no handle declares now: it says that its keys were
   * checked, among others than these. They lose their columns.
   */
  readonly #unchecked: Segment[] = [];

  constructor(context: CollectionContext, options: ReplacementOptions) {
    this.#context = context;
    this.#options = options;
    this.#loading = new Loading(context, options.version);
  }

  get records(): FoldedRecords {
    return this.#loading.records;
  }

  /**
   * Brings segments into memory, in ascending order.
   *
   * @param look Called with each, before it is folded.
   * @throws {StorageError} `data_damaged` when one is missing or damaged; {ValueError}
   *   `unique_violation`.
   */
  async bring(segments: readonly number[], look?: (segment: Segment) => void): Promise<void> {
    const { log } = this.#context.records;
    this.#states = await log.read(segments, (segment, hashes) => {
      look?.(segment);
      this.#fold(segment, hashes);
    });
    await log.bodies.check(segments);
    await this.#build();
  }

  /**
   * The same with their documents: one read finds damage to any, and a cached collection keeps
   * them.
   *
   * @returns whether all are whole.
   */
  async bringWhole(segments: readonly number[]): Promise<boolean> {
    const { log } = this.#context.records;
    let isWhole = true;
    const take: TakeSegment = (segment, hashes, stored) => {
      const bodies = intactBodies(stored, segment.checks);
      if (bodies?.length !== segment.keys.length || bodies.includes(undefined)) isWhole = false;
      this.#fold(segment, hashes, bodies);
    };
    this.#states = await log.read(segments, take, true);
    if (isWhole) await this.#build();
    return isWhole;
  }

  readonly #fold: Loading['fold'] = (segment, ...others) => {
    this.#loading.fold(segment, ...others);
    const { wantedColumns } = this.#loading.indexes;
    // By the name that document-index.ts gives a column.
    const isUnchecked = (column: string) =>
      /^\[\w+,true/.test(column) && !wantedColumns.includes(column);
    if (Object.keys(segment.indexed ?? {}).some(isUnchecked)) this.#unchecked.push(segment);
  };

  /** Builds the indexes. @throws {ValueError} `unique_violation` */
  async #build(): Promise<void> {
    const { records, indexes, lacking } = this.#loading;
    const { records: present, events } = this.#context;
    records.finish(this.#states);
    const numbers = new Set([...lacking.values()].flatMap((some) => [...some]));
    const unread = records.list.filter(({ segment }) => numbers.has(segment));
    const extract = (record: StoredRecord, body: Body) => indexes.extract(record, body);
    if (unread.length > 0) await run(extractKeys(present, unread, extract, events));
    this.#loading.fill();
    for (const index of indexes.all) {
      for (const record of index.refuses ? records.list : []) {
        const duplicate = indexes.duplicateOf(index, record);
        // Of both: either may be the one that the caller can change.
        if (duplicate) throw uniqueViolation(this.#context.settings.name, index, duplicate);
      }
    }
  }

  /**
   * Makes them the live ones, with a backup of those that were. To be called when nothing else is
   * written. Its end takes the records over before anything else is written: compaction must not
   * merge by the old records.
   */
  async prepare(): Promise<LogWrite> {
    const { safety, version, isMigration = false, replaced } = this.#options;
    const { log } = this.#context.records;
    const attached = [...(await safety.operations())];
    for (const segment of this.#unchecked) {
      const put = putSegment(log.name, { ...segment, indexed: undefined });
      attached.push({ put, undo: putSegment(log.name, segment) });
      (this.#states.get(segment.number) as SegmentState).columns = undefined;
    }
    const swap = log.prepare(swapping(log.state, this.#states, { attached, version, isMigration }));
    return {
      ...swap,
      stored: () => {
        safety.stored();
        swap.stored();
        this.#take(isMigration);
        replaced();
      },
      // Its own part alone: the other collections of an import are written to meanwhile.
      failed: () => {
        safety.failed();
        swap.failed(swap.undo());
      },
    };
  }

  /** @param isMigration Whether none of the documents has changed for a server. */
  #take(isMigration: boolean): void {
    const { records, replica } = this.#context;
    const before = replica ? records.list() : [];
    records.take(this.#loading.records);
    // Before the replica asks what has expired.
    this.#context.indexes = this.#loading.indexes;
    if (isMigration) replica?.noteMigration(before);
    else replica?.noteReplacement(before);
  }

  /** Makes them the live ones. */
  async write(): Promise<void> {
    await this.#context.records.log.commit([await this.prepare()]);
  }

  /**
   * Saves what a replica notes, writes the missing index columns, and loads the bodies of a cached
   * collection.
   */
  async settleIn(): Promise<void> {
    const { settings, records, saves, replica } = this.#context;
    const { indexes } = this.#loading;
    // After a crash before this all documents are compared with the server's, whose values win.
    await replica?.save();
    if (lackingColumns(records, indexes).length > 0)
      await saves.alone(() => writeColumns(records, indexes));
    if (settings.caching) await records.bodies.load();
  }
}

/** The backup of the records that a restore or an import replaces, stored in the same write. */
export class SafetyBackup {
  readonly #backups: CollectionBackups;
  readonly #make: () => Promise<Snapshot | undefined>;
  #snapshot: Snapshot | undefined;

  /** @param make It, when the records are replaced; `undefined` where there is nothing to keep. */
  constructor(backups: CollectionBackups, make: () => Promise<Snapshot | undefined>) {
    this.#backups = backups;
    this.#make = make;
  }

  /** To be called where nothing is unsaved, and nothing else is being written. */
  async operations(): Promise<readonly UndoablePut[]> {
    this.#snapshot = await this.#make();
    return this.#snapshot
      ? addSnapshot(await this.#backups.snapshots.stored(), this.#snapshot)
      : [];
  }

  /** Its name, once it is made. */
  get name(): string | undefined {
    return this.#snapshot?.name;
  }

  stored(): void {
    this.#backups.snapshots.forget();
  }

  failed(): void {
    this.#backups.snapshots.forget();
    if (this.#snapshot) this.#backups.snapshots.noteFailed(this.#snapshot);
  }
}
