import { type Body, peek } from '../../codec/body.ts';
import type { KeyColumns } from '../../query/index/index-key.ts';
import { RecordPart } from '../../storage/segments/parts/record-part.ts';
import type { Stamps } from '../../storage/segments/stored-record.ts';
import type { DocumentBuilder } from '../protocol/managed.ts';
import type { IndexSlot } from './index-slot.ts';

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
 * Adds the index keys of new documents without flags, from a row on. Bodies are decoded only for an index whose keys
 * are not given.
 *
 * @param slots The indexes, `undefined` for a dropped one.
 * @param build Set if an index uses managed fields.
 * @param given The keys of the documents from that row on.
 */
export function addKeys(
  { keys, stamps, bodies, indexKeys }: NewRows,
  from: number,
  slots: readonly (IndexSlot | undefined)[],
  build: DocumentBuilder | undefined,
  given: KeyColumns = {},
): void {
  const missing: { read: IndexSlot['index']['keyOf']; list: unknown[] }[] = [];
  for (const [at, slot] of slots.entries()) {
    indexKeys[at] ??= [];
    const list = indexKeys[at];
    const known = slot && given[slot.keyName];
    if (!slot) list.length = keys.length;
    else if (known?.length !== keys.length - from) missing.push({ read: slot.index.keyOf, list });
    else for (const key of known) list.push(key);
  }
  if (missing.length === 0) return;
  for (let row = from; row < keys.length; row++) {
    const fields = peek(bodies[row] as Body) as object;
    const document = build ? build(keys[row] as string, 0, stamps, fields) : fields;
    for (const { read, list } of missing) list[row] = read(document);
  }
}
