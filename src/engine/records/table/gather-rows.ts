import { type RecordColumns, RecordPart } from '../../../storage/segments/parts/record-part.ts';

/** A row of one of several parts. */
type Place = readonly [part: RecordColumns, row: number];

/**
 * Rows of parts as one part, in order of their ranks.
 *
 * @param isWanted Tells by the place of a row among all.
 */
export function gatherRows(
  parts: readonly RecordPart[],
  isWanted: (slot: number) => boolean,
): RecordPart {
  const places: Place[] = [];
  let slot = 0;
  for (const { columns } of parts) {
    if (!columns) continue;
    for (let row = 0; row < columns.keys.length; row++)
      if (isWanted(slot++)) places.push([columns, row]);
  }
  // Nearly in order, for which it is fast.
  places.sort(([a, row], [b, other]) => (a.ranks[row] as number) - (b.ranks[other] as number));
  const length = places.length;
  const first = places[0]?.[0];
  const gathered = {
    keys: places.map(([{ keys }, row]) => keys[row] as string),
    ranks: Float64Array.from(places, ([{ ranks }, row]) => ranks[row] as number),
    flags: Uint8Array.from(places, ([{ flags }, row]) => flags[row] as number),
    stamps: undefined as Float64Array | undefined,
    bodies: places.some(([{ bodies }]) => bodies)
      ? places.map(([{ bodies }, row]) => bodies?.[row])
      : undefined,
    indexKeys: (first?.indexKeys ?? []).map((_, offset) =>
      places.map(([{ indexKeys }, row]) => indexKeys[offset]?.[row]),
    ),
    remoteVersions: places.some(([{ remoteVersions }]) => remoteVersions)
      ? places.map(([{ remoteVersions }, row]) => remoteVersions?.[row])
      : undefined,
    segments: Float64Array.from(places, ([{ segments }, row]) => segments[row] as number),
    indexes: Uint32Array.from(places, ([{ indexes }, row]) => indexes[row] as number),
    sizes: Uint32Array.from(places, ([{ sizes }, row]) => sizes[row] as number),
  };
  places.forEach(([{ stamps }, row], at) => {
    if (!stamps) return;
    gathered.stamps ??= new Float64Array(length * 4);
    gathered.stamps.set(stamps.subarray(row * 4, row * 4 + 4), at * 4);
  });
  return new RecordPart(gathered);
}
