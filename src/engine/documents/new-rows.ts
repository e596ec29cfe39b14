import { type Body, peek } from '../../codec/body.ts';
import type { Change } from '../../protocol/event-protocol.ts';
import type { DocumentBuilder } from '../../protocol/managed.ts';
import type { RequestedPatch } from '../../protocol/requests.ts';
import type { KeyColumns } from '../../query/index/index-key.ts';
import { RecordPart } from '../../storage/segments/record-part.ts';
import type { Stamps, StoredRecord } from '../../storage/segments/stored-record.ts';
import type { DocumentIndex } from './document-index.ts';

/** Fewer records become objects at once: they share a segment with other changes. */
const FEW = 128;

/** New documents, before they have ranks. */
export interface NewRows {
  readonly keys: string[];
  /** The same for all. */
  readonly stamps: Stamps | undefined;
  readonly bodies: Body[];
  /** A list for each index, by its offset. */
  readonly indexKeys: unknown[][];
}

/** New documents as records. The lists are shared: an insert that is refused may be tried again. */
export function partOfNew(
  { keys, stamps, bodies, indexKeys }: NewRows,
  takeRank: () => number,
): RecordPart {
  const { length } = keys;
  const part = new RecordPart({
    ...{ keys, bodies, indexKeys },
    ranks: new Float64Array(length).map(takeRank),
    flags: new Uint8Array(length),
    stamps:
      stamps && Float64Array.from({ length: length * 4 }, (_, at) => stamps[at % 4] as number),
    remoteVersions: undefined,
    segments: new Float64Array(length),
    indexes: new Uint32Array(length),
    sizes: new Uint32Array(length),
  });
  if (length < FEW) part.records();
  return part;
}

/**
 * Adds the index keys of new documents without flags, from a row on. Bodies are decoded only for an
 * index whose keys are not given.
 *
 * @param slots The indexes, `undefined` for a dropped one.
 * @param build Set if an index uses managed fields.
 * @param given The keys of the documents from that row on.
 */
export function addKeys(
  { keys, stamps, bodies, indexKeys }: NewRows,
  from: number,
  slots: readonly (DocumentIndex | undefined)[],
  build: DocumentBuilder | undefined,
  given: KeyColumns = {},
): void {
  const missing: { read: DocumentIndex['read']; list: unknown[] }[] = [];
  for (const [at, slot] of slots.entries()) {
    indexKeys[at] ??= [];
    const list = indexKeys[at];
    const known = slot && given[slot.keyName];
    if (!slot) list.length = keys.length;
    else if (known?.length !== keys.length - from) missing.push({ read: slot.read, list });
    else for (const key of known) list.push(key);
  }
  if (missing.length === 0) return;
  for (let row = from; row < keys.length; row++) {
    const fields = peek(bodies[row] as Body) as object;
    const document = build ? build(keys[row] as string, 0, stamps, fields) : fields;
    for (const { read, list } of missing) list[row] = read(document);
  }
}

/** A new version of a record, with its body, and the version that it replaces. */
export interface NewVersion {
  readonly record: StoredRecord;
  readonly before: StoredRecord | undefined;
  readonly kind: Change['kind'];
  /** The patches that have made it, where it was patched. */
  readonly patches?: readonly RequestedPatch[] | undefined;
}

/** Takes the changes of an operation: into the collection, or aside, into a transaction. */
export interface VersionSink {
  /**
   * Prepares a record that {@link add}, {@link put} or {@link putAll} takes later.
   *
   * @param before The version that it replaces.
   * @param fields Its decoded fields, where they are known.
   */
  prepare(record: StoredRecord, before?: StoredRecord, fields?: object): void;
  /**
   * The same for new documents without ranks, from a row on, with the index keys that the client
   * has read.
   */
  prepareRows(rows: NewRows, from: number, given?: KeyColumns): void;
  /**
   * Adds prepared records with new keys, all or none; their ranks ascend by one. @throws
   * {ValueError} `unique_violation`
   */
  add(part: RecordPart): void;
  /** @throws {ValueError} `unique_violation`; nothing has changed then. */
  put(version: NewVersion): void;
  /**
   * Puts versions of different records and deletes others, all or none. They may exchange keys of
   * unique indexes. @throws {ValueError} `unique_violation`
   */
  putAll(versions: readonly NewVersion[], deleted?: readonly StoredRecord[]): void;
  delete(record: StoredRecord): void;
}
