import { type IntactBodies, intactBodies } from '../../../storage/integrity/body-checks.ts';
import type { SegmentState } from '../../../storage/segments/compaction.ts';
import { hashKeys, repeatedHashes } from '../../../storage/segments/key-hashes.ts';
import {
  partOf,
  type RecordColumns,
  RecordPart,
  readRecords,
} from '../../../storage/segments/record-part.ts';
import type { IndexColumns, Segment } from '../../../storage/segments/segment.ts';
import type { StoredRecord } from '../../../storage/segments/stored-record.ts';
import { PartList } from './part-list.ts';

/** The records of a collection, as they are read. */
export type LoadedRecords = Pick<FoldedRecords, 'rows' | 'resident' | 'last'>;

/**
 * The records that a list of segments stands for, while and after they are read.
 *
 * Hashes of keys find the records that a later segment puts or deletes: nearly all hashes occur
 * once. A map of a hundred thousand keys takes longer than reading them, and most requests after a
 * start need none.
 */
export class FoldedRecords {
  /** Invariant, once finished: one record a key, in the order of `record.rank`. */
  rows = new PartList();
  /** Whether every record has its body. */
  resident = true;
  /** The highest rank. */
  last = 0;
  readonly #columns: IndexColumns;
  readonly #caching: boolean;
  /** Of the keys that segments put, in the order of the rows. */
  readonly #hashes: Uint32Array[] = [];
  /** Segments with deletes in them, and these. */
  readonly #deletes: Pick<Segment, 'number' | 'deletes'>[] = [];
  #sorted = true;

  constructor(columns: IndexColumns, caching: boolean) {
    this.#columns = columns;
    this.#caching = caching;
  }

  /** The records, once finished. */
  get list(): readonly StoredRecord[] {
    return this.rows.records();
  }

  hasSome(segments: ReadonlySet<number>): boolean {
    return this.rows.parts.some((part) =>
      part.keys.some((_, row) => segments.has(part.placeOf(row).segment)),
    );
  }

  /**
   * Folds a segment in; lowest number first, then {@link finish}.
   *
   * @param hashes Of its keys.
   * @param bodies If they were read; those that are in the segment otherwise.
   */
  fold(segment: Segment, hashes: Uint32Array, bodies?: IntactBodies): void {
    const { number, keys, ranks, deletes } = segment;
    if (deletes.length > 0) this.#deletes.push({ number, deletes });
    if (keys.length === 0) return;
    this.#hashes.push(hashes);
    for (const rank of ranks) {
      if (rank < this.last) this.#sorted = false;
      else this.last = rank;
    }
    this.rows.append(
      this.#caching
        ? new RecordPart({ made: this.#withBodies(segment, bodies) })
        : partOf(segment, this.#columns),
    );
    if (!this.#caching) this.resident = false;
  }

  /**
   * Loading the other bodies needs objects, and here they are made while the next segments are
   * read.
   */
  #withBodies(
    segment: Segment,
    bodies: IntactBodies | undefined = intactBodies(segment.bodies, segment.checks),
  ): StoredRecord[] {
    // Reading a damaged one by itself says so.
    if (!bodies || bodies.includes(undefined)) this.resident = false;
    return readRecords(segment, this.#columns, bodies);
  }

  /**
   * Removes superseded records, counts live sizes, sorts: compaction moves old records into new
   * segments.
   */
  finish(segments: ReadonlyMap<number, SegmentState>): void {
    const dead = this.#dead(segments);
    if (dead.size === 0 && this.#sorted) return;
    const isLive = (slot: number) => !dead.has(slot);
    this.rows = new PartList([
      this.#caching
        ? new RecordPart({ made: sorted(this.list.filter((_, slot) => isLive(slot))) })
        : gatherRows(this.rows.parts, isLive),
    ]);
  }

  /**
   * The slots of the records that a later segment puts again or deletes; their sizes count as dead.
   */
  #dead(segments: ReadonlyMap<number, SegmentState>): ReadonlySet<number> {
    const deleted = this.#deletes.map(({ deletes }) => hashKeys(deletes));
    const repeated = repeatedHashes([...this.#hashes, ...deleted]);
    const dead = new Set<number>();
    if (repeated.size === 0) return dead;
    /** By key, the segment that has the last word. */
    const newest = new Map<string, number>();
    this.#eachSuspect(repeated, (part, row) => {
      newest.set(part.keys[row] as string, part.placeOf(row).segment);
    });
    for (const { number, deletes } of this.#deletes)
      for (const key of deletes) newest.set(key, Math.max(number, newest.get(key) ?? 0));
    this.#eachSuspect(repeated, (part, row, slot) => {
      const { segment, size } = part.placeOf(row);
      if (segment >= (newest.get(part.keys[row] as string) as number)) return;
      dead.add(slot);
      (segments.get(segment) as SegmentState).live -= size;
    });
    return dead;
  }

  /** Visits the records whose hash occurs more than once. */
  #eachSuspect(
    repeated: ReadonlySet<number>,
    visit: (part: RecordPart, row: number, slot: number) => void,
  ): void {
    let slot = 0;
    for (const [at, part] of this.rows.parts.entries()) {
      for (const [row, hash] of (this.#hashes[at] as Uint32Array).entries()) {
        if (repeated.has(hash)) visit(part, row, slot);
        slot++;
      }
    }
  }
}

function sorted(records: StoredRecord[]): StoredRecord[] {
  return records.sort((a, b) => a.rank - b.rank);
}

type Place = readonly [part: RecordColumns, row: number];

/**
 * Rows of parts as one part, in order of their ranks.
 *
 * @param isWanted Tells by the place of a row among all.
 */
function gatherRows(parts: readonly RecordPart[], isWanted: (slot: number) => boolean): RecordPart {
  const places: Place[] = [];
  let slot = 0;
  for (const { columns } of parts) {
    if (!columns) continue;
    for (let row = 0; row < columns.keys.length; row++)
      if (isWanted(slot++)) places.push([columns, row]);
  }
  // Nearly in order, for which it is fast.
  places.sort(([a, row], [b, other]) => (a.ranks[row] as number) - (b.ranks[other] as number));
  const column = <Name extends keyof RecordColumns>(name: Name) =>
    places.map(([part, row]) => part[name]?.[row]) as NonNullable<RecordColumns[Name]>[number][];
  const gathered = {
    keys: column('keys'),
    ranks: Float64Array.from(column('ranks')),
    flags: Uint8Array.from(column('flags')),
    stamps: undefined as Float64Array | undefined,
    bodies: places.some(([{ bodies }]) => bodies) ? column('bodies') : undefined,
    indexKeys: (places[0]?.[0].indexKeys ?? []).map((_, offset) =>
      places.map(([{ indexKeys }, row]) => indexKeys[offset]?.[row]),
    ),
    remoteVersions: places.some(([{ remoteVersions }]) => remoteVersions)
      ? column('remoteVersions')
      : undefined,
    segments: Float64Array.from(column('segments')),
    indexes: Uint32Array.from(column('indexes')),
    sizes: Uint32Array.from(column('sizes')),
  };
  places.forEach(([{ stamps }, row], at) => {
    if (!stamps) return;
    gathered.stamps ??= new Float64Array(places.length * 4);
    gathered.stamps.set(stamps.subarray(row * 4, row * 4 + 4), at * 4);
  });
  return new RecordPart(gathered);
}
