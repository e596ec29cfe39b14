import { run } from '../../async/coroutine.ts';
import { RoomForReads } from '../../async/room-for-reads.ts';
import type { Body } from '../../codec/body.ts';
import type { Request, Selection } from '../../protocol/requests.ts';
import type { IndexPlan, PlanByKeys } from '../../query/plan/plan.ts';
import { planQuery } from '../../query/plan/plan-query.ts';
import type { Checkpoint } from '../../storage/checkpoint/checkpoint-format.ts';
import { CheckpointReader } from '../../storage/checkpoint/checkpoint-reader.ts';
import { WARM_MOST, WarmSet } from '../../storage/checkpoint/warm-set.ts';
import { isBodyIntact } from '../../storage/integrity/body-checks.ts';
import type { Manifest } from '../../storage/log/manifest.ts';
import { documentLost } from '../../storage/segments/lost-data.ts';
import { readListed, type TakeSegment } from '../../storage/segments/read-segments.ts';
import { RecordPart, readRecord } from '../../storage/segments/record-part.ts';
import type { StoredRecord } from '../../storage/segments/stored-record.ts';
import type { CollectionContext, OperationContext } from '../collection-context.ts';
import { DocumentIndexes } from '../documents/document-indexes.ts';
import { compileSelection } from '../find/compiled-selection.ts';
import { RecordStore } from '../records/record-store.ts';
import { PartList } from '../records/table/part-list.ts';
import { NewerSegments, StoredIndex, type StoredState } from './newer-segments.ts';

/** Records of an answer, at most: of more, reading all segments takes about as long. */
const MOST = WARM_MOST;

/** Keys that one plan may look through: four pages. */
const MOST_KEYS = 16_384;

/** How often an opening makes room for reads: about a second in all. */
const ROOM = 100;

/** What finds those that an index without an order has: its part adds it. */
export const lateStored: {
  find?: (
    stored: StoredRecords,
    request: Request<'aggregate'>,
  ) => Promise<OperationContext | undefined>;
} = {};

/**
 * The records of a collection that is not in memory: those of its checkpoint, and those in newer
 * segments.
 */
export class StoredRecords {
  /** Beside the opening. */
  readonly room: RoomForReads;
  readonly context: CollectionContext;
  readonly state: StoredState;
  readonly #reader: CheckpointReader;
  readonly #newer: Promise<NewerSegments | undefined>;
  readonly #warm: Promise<WarmSet | undefined>;
  /** The covered segments that still count. */
  readonly live: ReadonlySet<number>;
  /** By name. */
  readonly #indexes: ReadonlyMap<string, StoredIndex>;

  constructor(context: CollectionContext, state: StoredState) {
    const { manifest, checkpoint } = state;
    const { storage, settings, records, keeper } = context;
    this.context = context;
    this.state = state;
    this.room = new RoomForReads(ROOM, checkpoint.segments.length);
    this.#reader = new CheckpointReader(storage, settings.name, checkpoint);
    this.live = liveAmong(checkpoint, manifest);
    const { ordered } = new DocumentIndexes(settings, keeper.declaredFor(records.log.version));
    const stored = ordered.flatMap(({ definition, column }) => {
      const directory = checkpoint.indexes[column];
      return directory ? new StoredIndex(definition, column, directory) : [];
    });
    this.#indexes = new Map(stored.map((index) => [index.definition.name, index]));
    this.#newer = NewerSegments.read(context, state, stored);
    this.#warm = WarmSet.read(storage, settings.name);
    for (const reading of [this.#newer, this.#warm]) reading.catch(() => undefined);
  }

  /** Whether a page of the checkpoint was missing or damaged. */
  get isDamaged(): boolean {
    return this.#reader.isDamaged;
  }

  /**
   * What a read needs: a context with all records that it may find, and perhaps others, each with
   * its body.
   *
   * @returns `undefined` where that would be too many, the checkpoint does not tell, or the opening
   *   will sooner.
   */
  async find(request: Request): Promise<OperationContext | undefined> {
    if (request.op === 'aggregate') {
      await this.state.kinds;
      return lateStored.find?.(this, request);
    }
    const plan = this.#planOf(request);
    if (!plan || this.#costOf(plan) > MOST_KEYS) return undefined;
    const [slots, newer] = await Promise.all([this.#slotsOf(plan), this.#newer]);
    if (!slots || !newer || slots.size > MOST) return undefined;
    const fresh = newer.candidates(plan);
    const old = fresh.length <= MOST && (await this.recordsAt(slots));
    if (!old) return undefined;
    const records = [...old.filter(({ key }) => !newer.keys.has(key)), ...fresh];
    return this.contextOf(records.sort((a, b) => a.rank - b.rank));
  }

  #planOf(request: Request): PlanByKeys | undefined {
    const byIds = (ids: readonly string[]): PlanByKeys => {
      return { kind: 'ids', ids, exact: true, ordered: false };
    };
    if (request.op === 'get') return byIds([request.id]);
    if (request.op === 'getMany') return byIds(request.ids);
    const selection = request as Partial<Selection>;
    const { criteria, collation, archived } = compileSelection(this.context, selection);
    const documents = Number.POSITIVE_INFINITY; // few keys are read in any case
    const plan = planQuery({ criteria, collation, archived, indexes: this.#indexes, documents });
    return plan.kind === 'scan' ? undefined : plan;
  }

  #costOf(plan: PlanByKeys): number {
    if (plan.kind === 'ids') return plan.ids.length;
    if (plan.kind === 'union')
      return plan.branches.reduce((sum, branch) => sum + this.#costOf(branch), 0);
    const index = this.#indexOf(plan);
    return plan.ranges.reduce((sum, range) => sum + index.estimate(range), index.unkeyed.size);
  }

  async #slotsOf(plan: PlanByKeys): Promise<Set<number> | undefined> {
    if (plan.kind === 'ids') return this.#reader.slotsOfKeys(plan.ids);
    if (plan.kind === 'index') {
      const index = this.#indexOf(plan);
      const bounds = plan.ranges.map((range) => index.boundsOf(range));
      return this.#reader.slotsInRanges(index.directory, bounds);
    }
    const all = await Promise.all(plan.branches.map((branch) => this.#slotsOf(branch)));
    if (all.includes(undefined)) return undefined;
    return new Set(all.flatMap((slots) => [...(slots ?? [])]));
  }

  #indexOf({ index }: IndexPlan): StoredIndex {
    return this.#indexes.get(index) as StoredIndex;
  }

  /**
   * The records at slots of segments that still count; `undefined` where the opening will have them
   * sooner.
   */
  async recordsAt(slots: ReadonlySet<number>): Promise<StoredRecord[] | undefined> {
    const rows = new Map<number, number[]>();
    for (const slot of slots) {
      const { segment, row } = this.#reader.placeOf(slot);
      if (!this.live.has(segment)) continue;
      const list = rows.get(segment) ?? [];
      list.push(row);
      rows.set(segment, list);
    }
    const warm = await this.#takeWarm(rows);
    if (rows.size > 0 && this.room.isFull) return undefined;
    this.room.noteRead(rows.size);
    const found = [...warm, ...(await readRows(this.context, rows))];
    this.context.recent.note(found);
    return found;
  }

  /** Takes the rows that the warm set has away from those to be read. */
  async #takeWarm(rows: Map<number, number[]>): Promise<StoredRecord[]> {
    const warm = await this.#warm;
    const found: StoredRecord[] = [];
    for (const [segment, list] of rows) {
      const left = list.filter((row) => {
        const record = warm?.record(segment, row);
        if (record) found.push(record);
        return !record;
      });
      rows.set(segment, left);
      if (left.length === 0) rows.delete(segment);
    }
    return found;
  }

  /** A collection of these records alone, with their bodies. */
  async contextOf(list: readonly StoredRecord[]): Promise<OperationContext> {
    const { log } = this.context.records;
    const { settings, clock } = this.context;
    const records = new RecordStore(log, clock, true, {});
    const rows = new PartList([new RecordPart({ made: list })]);
    records.open({ rows, resident: false, last: list.at(-1)?.rank ?? 0 });
    await run(records.bodies.ofAll(list));
    records.bodies.replaced(true);
    return { ...this.context, records, indexes: new DocumentIndexes(settings, []) };
  }
}

/** The covered segments that are live: a later compaction may have replaced some. */
function liveAmong({ segments }: Checkpoint, manifest: Manifest): ReadonlySet<number> {
  const listed = new Set(manifest.segments);
  return new Set(segments.filter((number) => number >= manifest.next || listed.has(number)));
}

/**
 * Reads rows of segments. Bodies come with them, unless storage reads them one by one; only those
 * of the rows are checked.
 *
 * @param rows By the number of their segment.
 * @throws {StorageError} `data_damaged`
 */
async function readRows(
  {
    storage,
    settings: { name },
    records,
  }: Pick<CollectionContext, 'storage' | 'settings' | 'records'>,
  rows: ReadonlyMap<number, readonly number[]>,
): Promise<StoredRecord[]> {
  const withBodies = !storage.getItem;
  const found: StoredRecord[] = [];
  const take: TakeSegment = (segment, _, stored) => {
    records.log.bodies.note(segment);
    const bodies = stored as readonly Body[] | undefined;
    for (const row of rows.get(segment.number) as readonly number[]) {
      const body = bodies?.[row];
      const record = readRecord(segment, row, body);
      if (withBodies && !isBodyIntact(body, segment.checks[row]))
        throw documentLost(name, segment.number, record.key);
      found.push(record);
    }
  };
  const numbers = [...rows.keys()].sort((a, b) => a - b);
  await readListed(storage, name, numbers, take, withBodies);
  return found;
}
