import type { IndexDefinition } from '../../query/index/index-definition.ts';
import { type IndexKey, isUnkeyed } from '../../query/index/index-key.ts';
import { boundOf, type KeyRange } from '../../query/index/key-range.ts';
import type { PlanByKeys } from '../../query/plan/plan.ts';
import type { PlannedIndex } from '../../query/plan/plan-query.ts';
import { orderIn } from '../../query/value/collation.ts';
import type { Checkpoint, IndexDirectory } from '../../storage/checkpoint/checkpoint-format.ts';
import { type KeyBounds, pagesOf } from '../../storage/checkpoint/checkpoint-reader.ts';
import { stateOf } from '../../storage/log/live-segments.ts';
import type { Manifest } from '../../storage/log/manifest.ts';
import type { SegmentState } from '../../storage/segments/compaction.ts';
import { type FoundSegment, readSegmentsAfter } from '../../storage/segments/read-segments.ts';
import type { StoredRecord } from '../../storage/segments/stored-record.ts';
import type { IntactSegment } from '../../storage/segments/stored-segment.ts';
import type { CollectionContext } from '../collection-context.ts';
import { FoldedRecords } from '../records/table/folded-records.ts';

/** Segments read in one request. */
const AT_ONCE = 50;

/** More than are ever uncovered, unless checkpoints cannot be written. */
const MOST = 1000;

/** What the first transaction of an opening reads of a collection. */
export interface StoredState {
  readonly manifest: Manifest;
  readonly checkpoint: Checkpoint;
  /** The number of the newest segment. */
  readonly last: number;
  /** Settles when the code of indexes without an order is there, or does not come. */
  readonly kinds?: Promise<unknown> | undefined;
}

/** The live segments that a checkpoint does not cover: what they say of a key wins. */
export class NewerSegments {
  /** The keys that they put or delete. */
  readonly keys: ReadonlySet<string>;
  readonly segments: readonly IntactSegment[];
  readonly records: readonly StoredRecord[];
  /** By name, with the offsets of their keys in the records. */
  readonly #indexes: ReadonlyMap<string, readonly [index: StoredIndex, offset: number]>;

  /**
   * @returns `undefined` where there are too many, one is missing or damaged, or the manifest has
   *   older ones that are not covered.
   */
  static async read(
    { storage, records }: Pick<CollectionContext, 'storage' | 'records'>,
    { manifest, checkpoint: { segments: covered }, last: newest }: StoredState,
    indexes: readonly StoredIndex[],
  ): Promise<NewerSegments | undefined> {
    const { name, next } = manifest;
    const end = covered.at(-1) ?? 0;
    const known = new Set(covered);
    if (manifest.segments.some((number) => number <= end && !known.has(number))) return undefined;
    const listed = new Set(manifest.segments);
    const found: IntactSegment[] = [];
    for (let after = end; ; ) {
      const some = await readSegmentsAfter(storage, name, after, AT_ONCE);
      // As the opening does.
      for (const { number, intact } of some) {
        const isLive = number < next ? listed.has(number) : !intact?.segment.staged;
        if (!isLive) continue;
        if (!intact || (intact.segment.after >= next && !known.has(intact.segment.after)))
          return undefined;
        known.add(number);
        found.push(intact);
        records.log.bodies.note(intact.segment);
      }
      if (some.length < AT_ONCE) {
        const wanted = newest >= next ? [...manifest.segments, newest] : manifest.segments;
        const isWhole = wanted.every((number) => known.has(number));
        return isWhole ? new NewerSegments(found, indexes) : undefined;
      }
      if (found.length > MOST) return undefined;
      after = (some.at(-1) as FoundSegment).number;
    }
  }

  constructor(segments: readonly IntactSegment[], indexes: readonly StoredIndex[]) {
    const columns = indexes.map(({ column }) => column);
    const folded = new FoldedRecords(columns, true);
    const keys = new Set<string>();
    const states = new Map<number, SegmentState>();
    for (const { segment, hashes } of segments) {
      for (const key of [...segment.keys, ...segment.deletes]) keys.add(key);
      states.set(segment.number, stateOf(segment));
      folded.fold(segment, hashes);
    }
    folded.finish(states);
    this.keys = keys;
    this.segments = segments;
    this.records = folded.list;
    this.#indexes = new Map(
      indexes.map((index, offset) => [index.definition.name, [index, offset]]),
    );
  }

  /** The records that a plan may find, and perhaps others. */
  candidates(plan: PlanByKeys): StoredRecord[] {
    return this.records.filter(this.#testOf(plan));
  }

  #testOf(plan: PlanByKeys): (record: StoredRecord) => boolean {
    if (plan.kind === 'ids') {
      const ids = new Set(plan.ids);
      return ({ key }) => ids.has(key);
    }
    if (plan.kind === 'union') {
      const tests = plan.branches.map((branch) => this.#testOf(branch));
      return (record) => tests.some((test) => test(record));
    }
    const [index, offset] = this.#indexes.get(plan.index) as readonly [StoredIndex, number];
    const bounds = plan.ranges.map((range) => index.boundsOf(range));
    const { multi } = index.definition;
    return ({ indexKeys }) => {
      const key = indexKeys?.[offset] as IndexKey;
      if (isUnkeyed(key)) return true;
      const keys = multi && Array.isArray(key) ? key : [key];
      return keys.some((one) => bounds.some((range) => isBetween(one, range)));
    };
  }
}

function isBetween(key: unknown, { low, high }: KeyBounds): boolean {
  return low(key) && !high(key);
}

/** An index in storage, with its directory in memory. */
export class StoredIndex implements PlannedIndex {
  readonly definition: IndexDefinition;
  readonly directory: IndexDirectory;
  /** The name of its column in segments. */
  readonly column: string;

  constructor(definition: IndexDefinition, column: string, directory: IndexDirectory) {
    this.definition = definition;
    this.column = column;
    this.directory = directory;
  }

  get size(): number {
    return this.directory.counts.reduce((sum, count) => sum + count, this.directory.unkeyed);
  }

  get unkeyed(): { readonly size: number } {
    return { size: this.directory.unkeyed };
  }

  /** The keys of all pages that the range touches. */
  estimate(range: KeyRange): number {
    const { from, to } = pagesOf(this.directory, this.boundsOf(range));
    return this.directory.counts.subarray(from, to).reduce((sum, count) => sum + count, 0);
  }

  boundsOf(range: KeyRange): KeyBounds {
    const { fields, collation } = this.definition;
    const order = orderIn(collation);
    return {
      low: boundOf(fields.length, range.from, range.fromOpen, order),
      high: boundOf(fields.length, range.to, !range.toOpen, order),
    };
  }
}
