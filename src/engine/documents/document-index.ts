import { hashText } from '../../codec/hash-text.ts';
import { readsManaged } from '../../protocol/managed.ts';
import type { PartName } from '../../protocol/parts.ts';
import type { CollectionSettings } from '../../protocol/settings.ts';
import type { IndexDefinition } from '../../query/index/index-definition.ts';
import { type IndexKey, keyName } from '../../query/index/index-key.ts';
import { SecondaryIndex } from '../../query/index/secondary-index.ts';
import { collations } from '../../query/value/collation.ts';
import type { RecordPart } from '../../storage/segments/record-part.ts';
import type { StoredRecord } from '../../storage/segments/stored-record.ts';

/** The slot in a checkpoint of a row of a segment; `undefined` where that is not covered. */
export type SlotOf = (segment: number, row: number) => number | undefined;

/**
 * The state of an index:
 *
 * ```
 * extracting ──every record has its key──▶ checking ──unique──▶ ready
 * ```
 */
type Phase = 'extracting' | 'checking' | 'ready';

/** An index of a collection. Its keys are in the `indexKeys` of each record. */
export class DocumentIndex extends SecondaryIndex<StoredRecord> {
  /** The offset of its keys. */
  readonly at: number;
  /** Name of its keys in requests. */
  readonly keyName: string;
  /** Name of the column that holds its keys in segments. */
  column: string;
  phase: Phase = 'extracting';
  /** While checking: two records with one key, the later one changed after the check began. */
  duplicate: DuplicateKey | undefined;
  /**
   * Encodes what it is made of, for a checkpoint; `undefined` where it was replaced meanwhile. Left
   * out for one whose checkpoint has pages by key, or none.
   */
  declare readonly toBytes?: (slotOf: SlotOf) => Generator<void, Uint8Array | undefined>;
  /** While checking: versions replaced or deleted since the check began. */
  readonly outdated = new Set<StoredRecord>();

  constructor(at: number, definition: IndexDefinition, settings: CollectionSettings) {
    super(definition);
    this.at = at;
    this.keyName = keyName(definition);
    this.column = columnName(definition, settings);
  }

  /** Whether it refuses duplicates. */
  get refuses(): boolean {
    return this.phase === 'ready' && this.definition.unique;
  }

  get #isChecked(): boolean {
    return this.phase === 'checking' && this.definition.unique;
  }

  /** Reads the key of a document that was stored before the index was there, and is not refused. */
  readStored(document: object): IndexKey {
    return this.read(document);
  }

  keyOf({ indexKeys }: StoredRecord): IndexKey {
    return indexKeys?.[this.at] as IndexKey;
  }

  /** Another record with a key of this one. */
  duplicateOf(record: StoredRecord): DuplicateKey | undefined {
    const taken = this.owner(this.keyOf(record), record.rank);
    return taken && { owners: [taken[0], record], key: taken[1] };
  }

  put(record: StoredRecord, before: StoredRecord | undefined): void {
    if (this.#isChecked) {
      this.duplicate ??= this.duplicateOf(record);
      if (before) this.outdated.add(before);
    }
    if (before) this.replace(before, record, this.keyOf(before), this.keyOf(record));
    else this.add(record, this.keyOf(record));
  }

  putPart(part: RecordPart): void {
    if (this.#isChecked) for (const record of part.records()) this.put(record, undefined);
    else this.addAll(part, this.keysOf([part]));
  }

  /** The keys of all records of parts. */
  keysOf(parts: readonly RecordPart[]): readonly IndexKey[] {
    // Natively: half of an opening's code runs before V8 optimizes it.
    return ([] as IndexKey[]).concat(...parts.map((part) => this.#keysIn(part)));
  }

  /** The keys of a part. No record is made for it where the part has a column of them. */
  #keysIn(part: RecordPart): IndexKey[] {
    const column = part.columns?.indexKeys[this.at] as IndexKey[] | undefined;
    if (!column) return part.records().map((record) => this.keyOf(record));
    if (!part.hasMade()) return column;
    const keys = column.slice();
    part.eachMade((record, row) => {
      keys[row] = this.keyOf(record);
    });
    return keys;
  }

  delete(record: StoredRecord): void {
    if (this.phase === 'checking') this.outdated.add(record);
    this.remove(record, this.keyOf(record));
  }
}

/** Whether an index has refused a document. */
export function isIndexRefusal(error: unknown): boolean {
  const { code } = error as { code?: unknown };
  return code === 'unique_violation' || code === 'vector_invalid';
}

/** Kinds of indexes whose code is a part, which adds its own. */
export const indexKinds: Partial<Record<PartName, typeof DocumentIndex>> = {};

/** The part with the code of an index; `undefined` for most. */
export function codePartOf({ special, collation }: IndexDefinition): PartName | undefined {
  return special?.part ?? (collation ? 'updates' : undefined);
}

/** A violation of a unique index. */
export interface DuplicateKey {
  readonly owners: readonly [owner: StoredRecord, other: StoredRecord];
  readonly key: IndexKey;
}

/**
 * Indexes with different keys have different columns. So has a `unique` index, whose column implies
 * that its keys were checked, one over managed fields, which options enable, and one whose
 * collation this browser orders otherwise than the writer did.
 */
function columnName(
  definition: IndexDefinition,
  { created, updated, archived, unarchived }: CollectionSettings,
): string {
  const { multi, unique, fields, collation, where, special } = definition;
  const shown = readsManaged(definition) ? [created, updated, archived, unarchived] : [];
  const order = collation ? [[collation, hashText(collations().probeOf(collation))]] : [];
  const part = where || special ? [{ where, special }] : [];
  return JSON.stringify([multi, unique, ...fields, ...shown, ...order, ...part]);
}
