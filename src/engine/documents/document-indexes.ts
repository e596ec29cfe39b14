import { type Body, peek } from '../../codec/body.ts';
import { ValueError } from '../../errors/value-error.ts';
import type { IndexKey } from '../../query/index/index-key.ts';
import { SecondaryIndex } from '../../query/index/secondary-index.ts';
import type { StoredRecord } from '../../storage/segments/stored-record.ts';
import { type DocumentBuilder, documentBuilder, isManaged } from '../protocol/managed.ts';
import type { CollectionSettings } from '../protocol/settings.ts';

/**
 * Names of the columns in which segments keep what these indexes need: other keys, another column. What is
 * unique has one of its own, which tells that its keys were checked; so has what looks at managed fields,
 * which options show and hide.
 */
export function indexColumns(settings: CollectionSettings): string[] {
  const { created, updated, archived, unarchived } = settings;
  return settings.indexes.map(({ fields, multi, unique }) => {
    const shown = fields.some(isManaged) ? [created, updated, archived, unarchived] : [];
    return JSON.stringify([multi, unique, ...fields, ...shown]);
  });
}

/**
 * The indexes of a collection of documents. They hold the newest version of every record, by the keys that
 * the record itself carries, so that taking it out needs no body.
 */
export class DocumentIndexes {
  /** By name, for the planner. */
  readonly byName: ReadonlyMap<string, SecondaryIndex<StoredRecord>>;
  readonly #collection: string;
  readonly #indexes: readonly SecondaryIndex<StoredRecord>[];
  /** Those that are unique, with their places among all. */
  readonly #unique: readonly (readonly [at: number, index: SecondaryIndex<StoredRecord>])[];
  /** Set where an index looks at managed fields, which are not in the body. */
  readonly #build: DocumentBuilder | undefined;

  constructor(settings: CollectionSettings) {
    const { name, indexes } = settings;
    this.#collection = name;
    this.#indexes = indexes.map((definition) => new SecondaryIndex(definition));
    this.#unique = [...this.#indexes.entries()].filter(([, { definition }]) => definition.unique);
    this.byName = new Map(this.#indexes.map((index) => [index.definition.name, index]));
    if (indexes.some(({ fields }) => fields.some(isManaged)))
      this.#build = documentBuilder(settings);
  }

  get isEmpty(): boolean {
    return this.#indexes.length === 0;
  }

  /** Extracts the keys of a record. What a new version shares with the last is kept. */
  extract(record: StoredRecord, body: Body, before?: StoredRecord): void {
    if (this.isEmpty) return;
    if (before?.indexKeys && before.body === body && !this.#build) {
      record.indexKeys = before.indexKeys;
      return;
    }
    const { key, flags, stamps } = record;
    const fields = (record.value ?? peek(body)) as object;
    const document = this.#build ? this.#build(key, flags, stamps, fields) : fields;
    record.indexKeys = this.#indexes.map((index) => index.keyOf(document));
  }

  /**
   * Puts a version in the place of the one before.
   *
   * @throws {ValueError} `unique_violation`; nothing has changed then.
   */
  put(record: StoredRecord, before: StoredRecord | undefined): void {
    this.checkUnique(record);
    this.#indexes.forEach((index, at) => {
      const key = keyAt(record, at);
      if (before) index.replace(before, record, keyAt(before, at), key);
      else index.add(record, key);
    });
  }

  /** Adds new records, all or none. @throws {ValueError} `unique_violation`. */
  addAll(records: readonly StoredRecord[]): void {
    if (this.isEmpty) return;
    this.#addUnique(records);
    this.#indexes.forEach((index, at) => {
      if (!index.definition.unique)
        index.addAll(
          records,
          records.map((record) => keyAt(record, at)),
        );
    });
  }

  /** First, since nothing else can refuse a record. */
  #addUnique(records: readonly StoredRecord[]): void {
    if (this.#unique.length === 0) return;
    let added = 0;
    try {
      for (const record of records) {
        this.checkUnique(record);
        for (const [at, index] of this.#unique) index.add(record, keyAt(record, at));
        added++;
      }
    } catch (error) {
      for (const record of records.slice(0, added))
        for (const [at, index] of this.#unique) index.remove(record, keyAt(record, at));
      throw error;
    }
  }

  delete(record: StoredRecord): void {
    this.#indexes.forEach((index, at) => {
      index.remove(record, keyAt(record, at));
    });
  }

  /** Takes all records at once, while the collection is opened. */
  load(records: readonly StoredRecord[]): void {
    this.#indexes.forEach((index, at) => {
      index.load(
        records,
        records.map((record) => keyAt(record, at)),
      );
    });
  }

  /** Sorts what was loaded, slice by slice. */
  *sorting(): Generator<void> {
    for (const index of this.#indexes) yield* index.sorting();
  }

  /** @throws {ValueError} `unique_violation`, if another record has one of its keys. */
  checkUnique(record: StoredRecord): void {
    for (const [at, index] of this.#unique) {
      const taken = index.owner(keyAt(record, at), record.rank);
      if (taken) throw this.#violation(index.definition.name, ...taken);
    }
  }

  #violation(index: string, { key: id }: StoredRecord, key: IndexKey): ValueError {
    const value = JSON.stringify(key, (_, part) => (typeof part === 'bigint' ? `${part}n` : part));
    return new ValueError(
      'unique_violation',
      `The unique index "${index}" of collection "${this.#collection}" already has ${value}, in the document with the _id "${id}". Change one, or declare the index without unique.`,
      { place: index },
    );
  }
}

function keyAt({ indexKeys }: StoredRecord, at: number): IndexKey {
  return indexKeys?.[at] as IndexKey;
}
