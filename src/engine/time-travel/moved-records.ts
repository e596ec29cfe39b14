import { readStamps, type Segment } from '../../storage/segments/segment.ts';
import type { Stamps } from '../../storage/segments/stored-record.ts';

/** Reads segments by number, in ascending order, without the bodies that are a value of their own. */
export type ReadColumns = (
  numbers: readonly number[],
  take: (segment: Segment) => void,
) => Promise<unknown>;

/** Where a list of segments has a record. */
export interface Place {
  /** Number of the segment that has the last word. */
  readonly segment: number;
  /** Index in it, -1 where it deletes the record. */
  readonly index: number;
  readonly rank: number;
  readonly flags: number;
  readonly stamps: Stamps | undefined;
}

/** A record that two lists of segments have in different places, or that one of them lacks. */
export interface MovedRecord {
  readonly key: string;
  readonly before: Place | undefined;
  readonly after: Place | undefined;
}

type Side = 'before' | 'after';
type Suspect = { -readonly [K in keyof MovedRecord]: MovedRecord[K] };

/**
 * Finds the records that two lists of segments may not have in common, by rank. Segments never change, so only those records
 * can differ that a segment of one list alone puts or deletes. Of these it keeps the place, of no other record anything.
 */
export async function findMoved(
  read: ReadColumns,
  before: readonly number[],
  after: readonly number[],
): Promise<MovedRecord[]> {
  const inBefore = new Set(before);
  const inAfter = new Set(after);
  const common = before.filter((number) => inAfter.has(number));
  const suspects = new Map<string, Suspect>();
  const takeOwn = (side: Side) => (segment: Segment) => {
    for (const [key, place] of placesIn(segment)) {
      const known = suspects.get(key);
      if (known) known[side] = place;
      else suspects.set(key, { key, before: undefined, after: undefined, [side]: place });
    }
  };
  await read(
    before.filter((number) => !inAfter.has(number)),
    takeOwn('before'),
  );
  await read(
    after.filter((number) => !inBefore.has(number)),
    takeOwn('after'),
  );
  if (suspects.size > 0)
    await read(common, (segment) => {
      for (const [key, place] of placesIn(segment, suspects)) {
        const suspect = suspects.get(key) as Suspect;
        for (const side of ['before', 'after'] as const)
          if ((suspect[side]?.segment ?? 0) <= place.segment) suspect[side] = place;
      }
    });
  const moved: MovedRecord[] = [];
  for (const { key, ...sides } of suspects.values()) {
    const one = { key, before: existing(sides.before), after: existing(sides.after) };
    if (!isSamePlace(one.before, one.after)) moved.push(one);
  }
  return moved.sort((a, b) => rankOf(a) - rankOf(b) || (a.key < b.key ? -1 : 1));
}

/** What a segment says of keys, or of those alone that are suspects. Deletes apply before its records. */
function* placesIn(
  { number, keys, ranks, flags, stamps, deletes }: Segment,
  suspects?: { has(key: string): boolean },
): Generator<readonly [key: string, place: Place]> {
  for (const key of deletes) {
    if (suspects && !suspects.has(key)) continue;
    yield [key, { segment: number, index: -1, rank: 0, flags: 0, stamps: undefined }];
  }
  for (let index = 0; index < keys.length; index++) {
    const key = keys[index] as string;
    if (suspects && !suspects.has(key)) continue;
    const [rank, flag] = [ranks[index] as number, flags[index] as number];
    const place = { segment: number, index, rank, flags: flag };
    yield [key, { ...place, stamps: stamps && readStamps(stamps, index) }];
  }
}

function existing(place: Place | undefined): Place | undefined {
  return place && place.index >= 0 ? place : undefined;
}

function isSamePlace(a: Place | undefined, b: Place | undefined): boolean {
  return a?.segment === b?.segment && a?.index === b?.index;
}

function rankOf({ before, after }: MovedRecord): number {
  return (after ?? before)?.rank ?? 0;
}
