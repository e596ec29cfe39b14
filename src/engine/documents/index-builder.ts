import { type Coroutine, run } from '../../async/coroutine.ts';
import { nextTurn } from '../../async/next-turn.ts';
import type { Body } from '../../codec/body.ts';
import { asCairnError, type CairnError, type ValueError } from '../../errors/errors.ts';
import type { IndexDefinition } from '../../query/index/index-definition.ts';
import { isSameKey } from '../../query/index/index-key.ts';
import { documentLost } from '../../storage/segments/lost-data.ts';
import { readRecords } from '../../storage/segments/record-part.ts';
import { columnOf, indexedColumns, type Segment } from '../../storage/segments/segment.ts';
import type { StoredRecord } from '../../storage/segments/stored-record.ts';
import { putSegment } from '../../storage/segments/stored-segment.ts';
import type { CollectionEvents } from '../collection-events.ts';
import { BodyReader, bySegment } from '../records/record-bodies.ts';
import type { RecordStore } from '../records/record-store.ts';
import type { SaveSchedule } from '../save-schedule.ts';
import type { DocumentIndex, DuplicateKey } from './document-index.ts';
import { type DocumentIndexes, keyText, ownerName, uniqueRefusal } from './document-indexes.ts';

/**
 * Records whose keys are extracted, and records whose keys are compared, before the builder yields.
 */
const EXTRACTED_AT_ONCE = 512;
const CHECKED_AT_ONCE = 4096;

/** Segments read or written in one transaction. */
const SEGMENTS_AT_ONCE = 16;

/** Reads the bodies of records, segment by segment, and passes each to `extract`. */
export function* extractKeys(
  store: RecordStore,
  records: readonly StoredRecord[],
  extract: (record: StoredRecord, body: Body) => void,
  events: CollectionEvents,
): Coroutine<void> {
  const reader = new BodyReader(store.log, records);
  let done = 0;
  for (const [number, group] of reader.groups) {
    const bodies = yield* reader.take(number);
    for (let from = 0; from < group.length; from += EXTRACTED_AT_ONCE) {
      const slice = group.slice(from, from + EXTRACTED_AT_ONCE);
      for (const record of slice) {
        // A record saved meanwhile may have dropped its body; its segment has it.
        const body = store.bodies.in(record, bodies);
        if (body !== undefined) extract(record, body);
      }
      done += slice.length;
      events.tell('index', { documents: done, total: records.length });
      yield nextTurn();
    }
  }
}

/**
 * Writes the missing columns of live segments. After a failure the next opening builds them.
 * Nothing else may be written meanwhile.
 */
export async function writeColumns(store: RecordStore, indexes: DocumentIndexes): Promise<void> {
  const { log } = store;
  for (let lacking = lackingColumns(store, indexes); lacking.length > 0; ) {
    const numbers = lacking
      .splice(0, SEGMENTS_AT_ONCE)
      .filter((number) => log.segments.has(number));
    const live = store.list().filter(({ segment }) => numbers.includes(segment));
    const groups = bySegment(live, ({ segment }) => segment);
    const segments: Segment[] = [];
    await log.read(numbers, (segment) => segments.push(segment));
    const indexed = await Promise.all(
      segments.map((one) => columnsFor(one, groups.get(one.number) ?? [], store, indexes)),
    );
    const values = segments.map((one, at) => ({ ...one, indexed: indexed[at] }));
    await log.write(values.map((value) => putSegment(log.name, value)));
    for (const { number, indexed } of values) {
      const state = log.segments.get(number);
      if (state) state.columns = indexed && Object.keys(indexed);
    }
  }
}

export function lackingColumns(store: RecordStore, indexes: DocumentIndexes): number[] {
  const columns = indexes.columns.filter((column) => column !== undefined);
  return [...store.log.segments.values()]
    .filter((state) => state.live > 0 && columns.some((one) => !state.columns?.includes(one)))
    .map(({ number }) => number);
}

/** The columns for all records of a segment: backups may need superseded ones. */
async function columnsFor(
  segment: Segment,
  live: readonly StoredRecord[],
  { log }: RecordStore,
  indexes: DocumentIndexes,
): Promise<Segment['indexed']> {
  const records: (StoredRecord | undefined)[] = segment.keys.map(() => undefined);
  for (const record of live) records[record.index] = record;
  if (records.includes(undefined)) {
    const { bodies } = await log.bodies.load(segment.number);
    for (const record of readRecords(segment, [])) {
      if (records[record.index]) continue;
      const body = bodies[record.index];
      if (body === undefined) throw documentLost(log.name, segment.number, record.key);
      extractNewer(indexes, record, indexes.all, body);
      records[record.index] = record;
    }
  }
  return indexedColumns(records as StoredRecord[], indexes.columns);
}

/** Gives a record the keys of indexes that were added after it was extracted. */
function extractNewer(
  indexes: DocumentIndexes,
  record: StoredRecord,
  slots: readonly DocumentIndex[],
  body: Body,
): void {
  const document = indexes.documentOf(record, body);
  setKeys(record, slots, (index) => index.readStored(document));
}

function setKeys(
  record: StoredRecord,
  slots: readonly DocumentIndex[],
  keyOf: (slot: DocumentIndex) => unknown,
): void {
  const keys = [...(record.indexKeys ?? [])];
  for (const slot of slots) {
    while (keys.length < slot.at) keys.push(undefined);
    keys[slot.at] = keyOf(slot);
  }
  record.indexKeys = keys;
}

/** Why an index cannot be unique. */
export function uniqueViolation(
  collection: string,
  index: DocumentIndex,
  duplicate: DuplicateKey,
): ValueError {
  const [a, b] = duplicate.owners.map(ownerName);
  const which = `the documents with the _id ${a} and ${b} both have ${keyText(duplicate)}`;
  return uniqueRefusal(collection, index, 'index', `cannot be unique: ${which}`);
}

/** The collection whose indexes are kept. */
export interface KeptCollection {
  readonly records: RecordStore;
  readonly saves: SaveSchedule;
  readonly events: CollectionEvents;
  readonly indexes: DocumentIndexes;
}

/** The indexes that handles, and the collection itself, declare: `IndexKeeper`. */
export interface KeptIndexes {
  readonly collection: () => KeptCollection;
  readonly isOpen: boolean;
  readonly own:
    | { definitions: readonly IndexDefinition[]; fail(error: CairnError): void }
    | undefined;
  readonly all: readonly { definitions: readonly IndexDefinition[] }[];
  /** Makes the handles fail that declare one of these as unique. */
  refuse(definitions: readonly IndexDefinition[], error: CairnError): void;
}

/** Builds declared indexes. Those that are violated, or cannot be built, are given up. */
export async function buildIndexes(
  kept: KeptIndexes,
  missing: readonly IndexDefinition[],
): Promise<void> {
  const { indexes, records, events } = kept.collection();
  const slots = indexes.add(missing);
  const isOver = () => !kept.isOpen || kept.collection().indexes !== indexes;
  try {
    const builder = new IndexBuilder(records, indexes, slots, isOver);
    const violations = await run(builder.build(events));
    for (const [{ definition }, error] of violations ?? []) kept.refuse([definition], error);
    if (violations) return;
  } catch (cause) {
    giveUp(kept, missing, asCairnError(cause));
  }
  for (const slot of slots) indexes.drop(slot);
}

/**
 * Documents could not be read: queries work without a plain index; handles fail without a unique
 * one, and all of them where nobody knows what has expired.
 */
function giveUp(kept: KeptIndexes, missing: readonly IndexDefinition[], error: CairnError): void {
  kept.refuse(missing, error);
  for (const declaration of kept.all)
    declaration.definitions = declaration.definitions.filter(
      (own) => !missing.some((one) => isSameKey(one, own)),
    );
  if (kept.own?.definitions.length === 0) kept.own.fail(error);
  kept.collection().events.failed(error);
}

/**
 * Writes missing columns of segments.
 *
 * @param backUp Makes a backup before.
 */
export async function storeColumns(
  { records, indexes, saves, events }: KeptCollection,
  backUp: (cause: { readonly reason: 'indexes' }) => Promise<unknown>,
): Promise<void> {
  if (lackingColumns(records, indexes).length === 0) return;
  try {
    await backUp({ reason: 'indexes' });
    await saves.alone(() => writeColumns(records, indexes));
  } catch (error) {
    // A full disk must not prevent reads, or deletes that make room.
    events.failed(asCairnError(error));
  }
}

/**
 * Builds indexes while the collection is in use: gives every record its keys, from columns of
 * segments or else from the documents, then checks for duplicates.
 */
export class IndexBuilder {
  readonly #store: RecordStore;
  readonly #indexes: DocumentIndexes;
  readonly #slots: readonly DocumentIndex[];
  readonly #isOver: () => boolean;

  /** @param isOver Whether the indexes are no longer needed. */
  constructor(
    store: RecordStore,
    indexes: DocumentIndexes,
    slots: readonly DocumentIndex[],
    isOver: () => boolean,
  ) {
    this.#store = store;
    this.#indexes = indexes;
    this.#slots = slots;
    this.#isOver = isOver;
  }

  /**
   * @returns the violated unique indexes with their errors; these are dropped, the others ready.
   *   `undefined` if the collection was closed or replaced.
   */
  *build(events: CollectionEvents): Coroutine<ReadonlyMap<DocumentIndex, ValueError> | undefined> {
    // Compaction would move records out of these segments.
    const release = this.#store.pin();
    try {
      for (let rest = this.#lacking(); rest.length > 0; rest = this.#lacking()) {
        yield* this.#takeColumns(rest);
        const extract = (record: StoredRecord, body: Body) =>
          extractNewer(this.#indexes, record, this.#slots, body);
        yield* extractKeys(this.#store, rest.filter(this.#lacks), extract, events);
        if (this.#isOver()) return undefined;
      }
      const records = this.#store.list();
      this.#indexes.fill(this.#slots, records, (slot) =>
        records.map((record) => slot.keyOf(record)),
      );
    } finally {
      release();
    }
    return yield* this.#check(this.#store.list());
  }

  /** Whether a record has no keys yet; one changed after the index was added has them. */
  readonly #lacks = ({ indexKeys }: StoredRecord): boolean =>
    (indexKeys?.length ?? 0) <= (this.#slots[0]?.at ?? 0);

  #lacking(): readonly StoredRecord[] {
    return this.#store.list().filter(this.#lacks);
  }

  /** Loads keys from columns of segments, which exist if the index was dropped for a while. */
  *#takeColumns(records: readonly StoredRecord[]): Coroutine<void> {
    const { log } = this.#store;
    const groups = bySegment(records, ({ segment }) => segment);
    const numbers = [...groups.keys()].filter((number) =>
      this.#slots.every(({ column }) => log.segments.get(number)?.columns?.includes(column)),
    );
    for (let from = 0; from < numbers.length; from += SEGMENTS_AT_ONCE) {
      const some = numbers.slice(from, from + SEGMENTS_AT_ONCE);
      const segments: Segment[] = [];
      try {
        yield log.read(some, (segment) => segments.push(segment));
      } catch (error) {
        // A running compaction has replaced some: the next pass finds their records.
        if (some.every((number) => log.segments.has(number))) throw error;
        continue;
      }
      for (const segment of segments) {
        for (const record of groups.get(segment.number) ?? []) {
          if (record.segment !== segment.number || !this.#lacks(record)) continue;
          setKeys(record, this.#slots, ({ column }) => columnOf(segment, column)?.[record.index]);
        }
      }
      yield nextTurn();
    }
  }

  /** Whether one of the two records still has a key of another. */
  #isDuplicate(slot: DocumentIndex): boolean {
    return (slot.duplicate?.owners ?? []).some(({ key: id }) => {
      const record = this.#store.table.get(id);
      return record !== undefined && this.#indexes.duplicateOf(slot, record) !== undefined;
    });
  }

  /** Checks the filled indexes for duplicates; they follow every change meanwhile. */
  *#check(
    records: readonly StoredRecord[],
  ): Coroutine<ReadonlyMap<DocumentIndex, ValueError> | undefined> {
    const slots = this.#slots;
    for (const _slice of this.#indexes.sorting(slots)) {
      yield nextTurn();
      if (this.#isOver()) return undefined;
    }
    const unique = slots.filter(({ definition }) => definition.unique);
    for (let left = unique, list = records; left.length > 0; list = this.#store.list()) {
      for (let from = 0; from < list.length; from += CHECKED_AT_ONCE) {
        for (const record of list.slice(from, from + CHECKED_AT_ONCE))
          for (const slot of left)
            if (!slot.outdated.has(record))
              slot.duplicate ??= this.#indexes.duplicateOf(slot, record);
        yield nextTurn();
        if (this.#isOver()) return undefined;
      }
      // A change of several documents may give one a key before it takes it from another. Others
      // were not looked for.
      left = left.filter((slot) => slot.duplicate && !this.#isDuplicate(slot));
      for (const slot of left) {
        slot.duplicate = undefined;
        slot.outdated.clear();
      }
    }
    const violations = new Map<DocumentIndex, ValueError>();
    for (const slot of unique)
      if (slot.duplicate)
        violations.set(slot, uniqueViolation(this.#store.log.name, slot, slot.duplicate));
    for (const slot of violations.keys()) this.#indexes.drop(slot);
    this.#indexes.ready(slots.filter((slot) => !violations.has(slot)));
    return violations;
  }
}
