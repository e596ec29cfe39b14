import { encode } from '../../src/codec/capture.ts';
import { RecordPart } from '../../src/storage/segments/record-part.ts';
import type { Stamps } from '../../src/storage/segments/stored-record.ts';

/** New records as columns, as `insertMany` makes them. */
export function newPart(
  entries: readonly (readonly [key: string, value: unknown])[],
  takeRank: () => number,
  { flags = 0, stamps }: { readonly flags?: number; readonly stamps?: Stamps } = {},
): RecordPart {
  const { length } = entries;
  return new RecordPart({
    keys: entries.map(([key]) => key),
    ranks: Float64Array.from(entries, takeRank),
    flags: new Uint8Array(length).fill(flags),
    stamps: stamps && Float64Array.from(entries.flatMap(() => stamps)),
    bodies: entries.map(([, value]) => encode(value, 'value')),
    indexKeys: [],
    remoteVersions: undefined,
    segments: new Float64Array(length),
    indexes: new Uint32Array(length),
    sizes: new Uint32Array(length),
  });
}
