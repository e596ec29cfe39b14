import type { Body } from '../../codec/body.ts';
import { RecordPart } from '../../storage/segments/parts/record-part.ts';
import type { Stamps } from '../../storage/segments/stored-record.ts';

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
