import { type Body, peek } from '../../codec/body.ts';
import { ValueError } from '../../errors/errors.ts';
import {
  ARCHIVED,
  type DocumentBuilder,
  documentBuilder,
  readsManaged,
} from '../../protocol/managed.ts';
import type { CollectionSettings } from '../../protocol/settings.ts';
import type { IndexDefinition } from '../../query/index/index-definition.ts';
import { type IndexKey, isSameKey, type KeyColumns } from '../../query/index/index-key.ts';
import type { EntryList } from '../../query/index/leaf-list.ts';
import type { SecondaryIndex } from '../../query/index/secondary-index.ts';
import type { RecordPart } from '../../storage/segments/record-part.ts';
import type { IndexColumns } from '../../storage/segments/segment.ts';
import type { StoredRecord } from '../../storage/segments/stored-record.ts';
import type { ExpiryRules } from '../records/record-store.ts';
import { codePartOf, DocumentIndex, type DuplicateKey, indexKinds } from './document-index.ts';
import { addKeys, type NewRows } from './new-rows.ts';

/** A new version of a record, and the version that it replaces. */
interface Replacement {
  readonly record: StoredRecord;
  readonly before: StoredRecord | undefined;
}

/**
 * The indexes of a collection of documents. They contain the newest version of every record. A
 * record carries its own index keys, so its removal needs no body. An index can be added and
 * dropped while records change. Invariant: a record changed after an index was added carries its
 * key; the others get theirs from an `IndexBuilder`.
 */
export class DocumentIndexes {
  /** The indexes that answer queries, by name. */
  byName: ReadonlyMap<string, SecondaryIndex<StoredRecord>> = new Map();
  /**
   * The index with the times at which records expire, once it has all records; `undefined` without
   * `expire_after`.
   */
  expiring: DocumentIndex | undefined;
  readonly #settings: CollectionSettings;
  readonly #expiry: ExpiryRules | undefined;
  /**
   * By offset. The offset of a dropped index stays unused: the keys of all records refer to
   * offsets.
   */
  #slots: readonly (DocumentIndex | undefined)[] = [];
  /** The indexes whose keys are extracted. */
  #kept: readonly DocumentIndex[] = [];
  /** The indexes with all records. */
  #filled: readonly DocumentIndex[] = [];
  /** The unique indexes. */
  #refusing: readonly DocumentIndex[] = [];
  /** Set if an index uses managed fields, which are not in the body. */
  #build: DocumentBuilder | undefined;

  constructor(
    settings: CollectionSettings,
    definitions: readonly IndexDefinition[],
    expiry?: ExpiryRules,
  ) {
    this.#settings = settings;
    this.#expiry = expiry;
    this.add(definitions);
  }

  get isEmpty(): boolean {
    return this.#kept.length === 0;
  }

  /** The indexes that are ready or being built. */
  get all(): readonly DocumentIndex[] {
    return this.#kept;
  }

  /** Those that have an order. */
  get ordered(): readonly DocumentIndex[] {
    return this.#kept.filter(({ definition }) => !definition.special);
  }

  /** How many keys a record carries. If the number changes, records extracted earlier lack some. */
  get width(): number {
    return this.#slots.length;
  }

  /**
   * The columns to write with each segment. Only of ready indexes: a column of a unique index
   * implies that it was checked.
   */
  get columns(): IndexColumns {
    return this.#slots.map((slot) => (slot?.phase === 'ready' ? slot.column : undefined));
  }

  /** The columns to read from each segment. */
  get wantedColumns(): IndexColumns {
    return this.#slots.map((slot) => slot?.column);
  }

  /** Adds the indexes whose code is there; an `IndexBuilder` makes them ready. */
  add(definitions: readonly IndexDefinition[]): readonly DocumentIndex[] {
    const added: DocumentIndex[] = [];
    for (const definition of definitions) {
      const part = codePartOf(definition);
      const Kind = part ? indexKinds[part] : DocumentIndex;
      if (Kind) added.push(new Kind(this.width + added.length, definition, this.#settings));
    }
    this.#slots = [...this.#slots, ...added];
    this.#arrange();
    return added;
  }

  drop(slot: DocumentIndex): void {
    this.#slots = this.#slots.map((other) => (other === slot ? undefined : other));
    this.#arrange();
  }

  /**
   * Loads all records into an index, once each carries its key.
   *
   * @param keysOf The keys of all records in an index.
   */
  fill(
    slots: readonly DocumentIndex[],
    records: EntryList<StoredRecord>,
    keysOf: (slot: DocumentIndex) => readonly IndexKey[],
  ): void {
    this.#look();
    for (const slot of slots) {
      slot.load(records, keysOf(slot));
      slot.phase = 'checking';
    }
    this.#arrange();
  }

  /** From now on these answer queries; a plain index of the same keys is removed. */
  ready(slots: readonly DocumentIndex[]): void {
    for (const slot of slots) {
      if (!this.#kept.includes(slot)) continue;
      slot.phase = 'ready';
      slot.outdated.clear();
      const plain = this.#kept.find(
        ({ definition: own }) => serves(slot.definition, own) && !serves(own, slot.definition),
      );
      if (plain) this.drop(plain);
    }
    this.#arrange();
  }

  /** Extracts the keys of a record. A new version reuses unchanged keys of the last one. */
  extract(
    record: StoredRecord,
    body: Body,
    before?: StoredRecord,
    fields?: object,
    read: 'read' | 'readStored' = 'read',
  ): void {
    if (this.isEmpty) return;
    const known = before?.indexKeys;
    if (known?.length === this.width && before?.body === body && !this.#build) {
      record.indexKeys = known;
      return;
    }
    const document = this.documentOf(record, body, fields);
    record.indexKeys = this.#slots.map((slot) => slot?.[read](document));
  }

  /**
   * Gives new documents their keys, from a row on. @param given The keys that the client has read.
   */
  extractRows(rows: NewRows, from: number, given?: KeyColumns): void {
    if (!this.isEmpty) addKeys(rows, from, this.#slots, this.#build, given);
  }

  /**
   * Replaces a version by the next one.
   *
   * @throws {ValueError} `unique_violation`; nothing has changed then.
   */
  put(record: StoredRecord, before: StoredRecord | undefined): void {
    this.#look();
    this.checkUnique(record);
    for (const slot of this.#filled) slot.put(record, before);
  }

  /** Adds new records, all or none. @throws {ValueError} `unique_violation`. */
  addAll(part: RecordPart): void {
    if (this.isEmpty) return;
    this.#look();
    if (this.#refusing.length > 0) this.#addUnique(part.records());
    for (const slot of this.#filled) if (!slot.refuses) slot.putPart(part);
  }

  /**
   * Deletes records and replaces versions of others, all or none.
   *
   * @param reloads Whether {@link reload} follows, which concerns those that refuse nothing.
   * @returns takes all of it back.
   * @throws {ValueError} `unique_violation`
   */
  change(
    deleted: readonly StoredRecord[],
    versions: readonly Replacement[],
    reloads: boolean,
  ): () => void {
    this.#look();
    const unique = this.#refusing;
    const plain = this.#filled.filter((slot) => !slot.refuses && !(reloads && isPlain(slot)));
    const gone = [...deleted, ...versions.flatMap(({ before }) => before ?? [])];
    const restoreUnique = () => {
      for (const record of gone) for (const slot of unique) slot.put(record, undefined);
    };
    // First, because new versions may exchange keys.
    for (const record of gone) for (const slot of unique) slot.delete(record);
    try {
      this.#addUnique(versions.map(({ record }) => record));
    } catch (error) {
      restoreUnique();
      throw error;
    }
    for (const slot of plain) {
      for (const record of deleted) slot.delete(record);
      for (const { record, before } of versions) slot.put(record, before);
    }
    return () => {
      for (const { record } of versions) for (const slot of unique) slot.delete(record);
      restoreUnique();
      for (const slot of plain) {
        for (const { record, before } of versions) {
          if (before) slot.put(before, record);
          else slot.delete(record);
        }
        for (const record of deleted) slot.put(record, undefined);
      }
    };
  }

  /** Loads all records anew; reads sort them. */
  reload(records: readonly StoredRecord[]): void {
    for (const slot of this.#filled)
      if (isPlain(slot)) slot.load(records, records.map(slot.keyOf, slot));
  }

  /** First, because only unique indexes can refuse a record. */
  #addUnique(records: readonly StoredRecord[]): void {
    if (this.#refusing.length === 0) return;
    let added = 0;
    try {
      for (const record of records) {
        this.checkUnique(record);
        for (const slot of this.#refusing) slot.put(record, undefined);
        added++;
      }
    } catch (error) {
      for (const record of records.slice(0, added))
        for (const slot of this.#refusing) slot.remove(record, slot.keyOf(record));
      throw error;
    }
  }

  delete(record: StoredRecord): void {
    for (const slot of this.#filled) slot.delete(record);
  }

  /** Sorts the loaded keys, slice by slice. */
  *sorting(slots = this.#filled): Generator<void> {
    for (const index of slots) yield* index.sorting();
  }

  /** @throws {ValueError} `unique_violation`, if another record has one of its keys. */
  checkUnique(record: StoredRecord): void {
    for (const index of this.#refusing) {
      const duplicate = this.#takenFrom(index, record);
      if (duplicate) {
        const where = `in the document with the _id ${ownerName(duplicate.owners[0])}`;
        const why = `already has ${keyText(duplicate)}, ${where}`;
        throw uniqueRefusal(this.#settings.name, index, 'unique index', why);
      }
    }
  }

  /**
   * Another record with a key of this one, which is in the collection already. Both have not
   * expired.
   */
  duplicateOf(index: DocumentIndex, record: StoredRecord): DuplicateKey | undefined {
    const duplicate = this.#takenFrom(index, record);
    return duplicate && !this.#expiry?.evict(record) ? duplicate : undefined;
  }

  /** Another record with a key of this one. One that has expired is removed instead. */
  #takenFrom(index: DocumentIndex, record: StoredRecord): DuplicateKey | undefined {
    for (;;) {
      const duplicate = index.duplicateOf(record);
      if (!duplicate || !this.#expiry?.evict(duplicate.owners[0])) return duplicate;
    }
  }

  /**
   * What has expired is noted before new records come, which a clock that was set back since does
   * not concern.
   */
  #look(): void {
    this.#expiry?.now();
  }

  /** What its keys are read of. */
  documentOf(
    record: StoredRecord,
    body: Body,
    fields = (record.value ?? peek(body)) as object,
  ): object {
    const { key, flags, stamps } = record;
    return this.#build ? this.#build(key, flags, stamps, fields) : fields;
  }

  #arrange(): void {
    this.#kept = this.#slots.filter((slot) => slot !== undefined);
    this.#filled = this.#kept.filter(({ phase }) => phase !== 'extracting');
    this.#refusing = this.#filled.filter(({ refuses }) => refuses);
    const ready = this.ordered.filter(({ phase }) => phase === 'ready');
    this.byName = new Map(ready.map((index) => [index.definition.name, index]));
    const definition = this.#expiry?.definition;
    this.expiring = definition && this.#filled.find((one) => isSameKey(one.definition, definition));
    const isShown = this.#kept.some(({ definition }) => readsManaged(definition));
    this.#build = isShown ? documentBuilder(this.#settings) : undefined;
  }
}

export function uniqueRefusal(
  collection: string,
  { definition: { name } }: DocumentIndex,
  kind: string,
  why: string,
): ValueError {
  return new ValueError(
    'unique_violation',
    `The ${kind} "${name}" of collection "${collection}" ${why}. Change one, or declare the index without unique.`,
    { place: name },
  );
}

const isPlain = ({ definition }: DocumentIndex) => !definition.unique;

/** A unique index also serves as the plain one of the same keys. */
export function serves(index: IndexDefinition, declared: IndexDefinition): boolean {
  return isSameKey(index, declared) && (index.unique || !declared.unique);
}

/** Queries do not show an archived one, so the caller may not know of it. */
export function ownerName({ key, flags }: StoredRecord): string {
  return `"${key}"${flags & ARCHIVED ? ' (archived)' : ''}`;
}

export function keyText({ key }: DuplicateKey): string {
  return JSON.stringify(key, (_, part) => (typeof part === 'bigint' ? `${part}n` : part));
}
