import type { Coroutine } from '../../async/coroutine.ts';
import type { Pace } from '../../async/pace.ts';
import type { Body } from '../../codec/body.ts';
import { ARCHIVED } from '../../protocol/managed.ts';
import type { CriteriaPart } from '../../query/criteria/compile-criteria.ts';
import type { Plan, PlanByKeys } from '../../query/plan/plan.ts';
import { PlanReader } from '../../query/plan/plan-reader.ts';
import type { SortOrder } from '../../query/sort/compile-sort.ts';
import type { StoredRecord } from '../../storage/segments/stored-record.ts';
import type { OperationContext } from '../collection-context.ts';
import { BodyReader } from '../records/record-bodies.ts';
import type { DecodedDocuments, Overlay } from '../records/record-store.ts';
import { type RecordTest, Scan } from '../records/scan.ts';
import type { CompiledSelection } from './compiled-selection.ts';
import {
  type CollectedPageEnd,
  FirstMatches,
  type ResultCollector,
  SortedMatches,
} from './result-collector.ts';

/** Decoded documents that are looked at together. */
const BLOCK = 1024;

/** Candidates read, or tested, in one batch. */
const BATCH = 256;

/** Reads the candidates of a plan and passes matches to a collector. */
export class Candidates {
  /** Keys of indexes looked at so far. */
  keys = 0;
  /** Documents looked into so far. */
  documents = 0;
  readonly #context: OperationContext;
  readonly #selection: CompiledSelection;
  readonly #pace: Pace;
  readonly #after: CollectedPageEnd | undefined;
  /** Tells by what a record says itself, without its body. */
  readonly #wanted: (record: StoredRecord) => boolean;

  constructor(
    context: OperationContext,
    selection: CompiledSelection,
    pace: Pace,
    after: CollectedPageEnd | undefined,
  ) {
    this.#context = context;
    this.#selection = selection;
    this.#pace = pace;
    this.#after = after;
    const { wanted, order } = selection;
    this.#wanted =
      after && !order ? (record) => record.rank > after.rank && wanted(record) : wanted;
  }

  /** Reads for as long as more can change the result. Records must be pinned meanwhile. */
  *read(plan: Plan, matches: ResultCollector): Coroutine<void> {
    const { records } = this.#context;
    const { test, order, byFields } = this.#selection;
    if (plan.kind !== 'scan') return yield* this.#readPlan(plan, matches);
    if (!test && !order) {
      const list = records.list();
      let at = 0;
      return yield* this.#visit(() => list[at++], matches, false);
    }
    const decoded = byFields ? records.decoded() : undefined;
    yield* decoded ? this.#scanDecoded(decoded, matches) : this.#scan(matches);
  }

  /**
   * Goes over decoded documents, all in memory: nothing of a record is touched unless it matches.
   */
  *#scanDecoded(decoded: DecodedDocuments, matches: ResultCollector): Coroutine<void> {
    const { documents } = decoded;
    const { parts, order } = this.#selection;
    const filters = parts.map((part) => criteriaFilter(part, decoded));
    if (order && matches instanceof SortedMatches) {
      filters.push(orderFilter(order, decoded, matches));
    }
    const records = this.#context.records.list();
    const block = new Int32Array(BLOCK);
    for (let from = 0; from < documents.length; from += BLOCK) {
      let length = Math.min(BLOCK, documents.length - from);
      for (let at = 0; at < length; at++) block[at] = from + at;
      this.documents += length;
      for (const filter of filters) length = filter(block, length);
      for (let at = 0; at < length; at++) {
        const place = block[at] as number;
        const record = records[place] as StoredRecord;
        if (this.#wanted(record) && !matches.add(record, documents[place])) return;
      }
      if (this.#pace.late) yield* this.#pace.pause();
    }
  }

  *#scan(matches: ResultCollector): Coroutine<void> {
    const { test, order, sorted } = this.#selection;
    const scan = new Scan(this.#context.records, this.#pace);
    let complete = false;
    const visit: RecordTest = (record, body) => {
      if (!this.#wanted(record)) return false;
      this.documents++;
      if (!test || test(record, body))
        complete = !matches.add(record, order && sorted(record, body));
      return complete;
    };
    try {
      yield* scan.next(visit, { limit: 1, bound: matches });
    } finally {
      scan.end();
    }
  }

  /** How many match, where a plan tells it without a look at any of them. */
  counted(plan: Plan): number | undefined {
    const { records } = this.#context;
    const { archived } = this.#selection;
    // A flag that no record has keeps none out; `only` asks for one that some may lack.
    const all = archived === true || (archived === false && (records.flags & ARCHIVED) === 0);
    if (!all || !plan.exact || this.#after) return undefined;
    if (plan.kind === 'scan') return records.size;
    return records.overlay || records.hides ? undefined : this.#reader(plan).count();
  }

  #reader(plan: PlanByKeys): PlanReader<StoredRecord> {
    const { records, indexes } = this.#context;
    return new PlanReader<StoredRecord>(plan, {
      indexes: indexes.byName,
      byId: (id) => records.get(id),
      order: this.#selection.order,
      from: plan.kind === 'index' && plan.ordered ? this.#after : undefined,
    });
  }

  *#readPlan(plan: PlanByKeys, matches: ResultCollector): Coroutine<void> {
    const reader = this.#reader(plan);
    const { overlay } = this.#context.records;
    let next = () => reader.next();
    if (overlay) {
      // Indexes hold the newest versions.
      const others = overlay.values();
      next = () => nextOutside(reader, overlay) ?? nextExisting(others);
    }
    try {
      yield* this.#visit(next, matches, !plan.exact || overlay !== undefined);
    } finally {
      this.keys = reader.keys;
    }
  }

  /**
   * @param next The next candidate, until there is none.
   * @param tests Whether the criteria have to be looked at still.
   */
  *#visit(
    next: () => StoredRecord | undefined,
    matches: ResultCollector,
    tests: boolean,
  ): Coroutine<void> {
    const { test, sorted } = this.#selection;
    const tested = tests ? test : undefined;
    const keyed = matches instanceof SortedMatches;
    const looks = tested !== undefined || keyed;
    const visit: Visit = (record, body) => {
      if (!looks) return matches.add(record);
      this.documents++;
      if (tested && !tested(record, body as Body)) return true;
      return keyed ? matches.add(record, sorted(record, body as Body)) : matches.add(record);
    };
    const { bodies } = this.#context.records;
    for (let record = next(); record; record = next()) {
      if (!this.#wanted(record)) continue;
      const body = looks ? bodies.atHand(record) : undefined;
      if ((looks && body === undefined) || this.#pace.due) {
        // An index must not be read on after a pause: it may have changed.
        const rest: StoredRecord[] = [];
        for (; record; record = next()) if (this.#wanted(record)) rest.push(record);
        yield* matches instanceof FirstMatches
          ? this.#inOrder(rest, matches.most, looks, visit)
          : this.#inAnyOrder(rest, looks, visit);
        return;
      }
      if (!visit(record, body)) return;
    }
  }

  /** @param most How many are wanted: the first batches read no more than may be needed. */
  *#inOrder(
    candidates: StoredRecord[],
    most: number,
    looks: boolean,
    visit: Visit,
  ): Coroutine<void> {
    let size = most;
    for (let from = 0; from < candidates.length; from += size) {
      size = Math.min(BATCH, from === 0 ? most : 2 * size);
      const batch = candidates.slice(from, from + size);
      const bodies = looks ? yield* this.#context.records.bodies.ofAll(batch) : [];
      for (const [index, record] of batch.entries()) {
        if (this.#pace.due) yield* this.#pace.pause();
        if (!visit(record, bodies[index])) return;
      }
    }
  }

  /** Segment by segment, each read once. */
  *#inAnyOrder(candidates: StoredRecord[], looks: boolean, visit: Visit): Coroutine<void> {
    const { records } = this.#context;
    const reader = new BodyReader(records.log, looks ? candidates : []);
    const groups = looks ? reader.groups : new Map([[0, candidates]]);
    for (const [number, group] of groups) {
      const bodies = yield* reader.take(number);
      for (const record of group) {
        if (this.#pace.due) yield* this.#pace.pause();
        let body = records.bodies.in(record, bodies);
        if (looks && body === undefined) body = yield* records.bodies.of(record);
        visit(record, body);
      }
    }
  }
}

function nextOutside(reader: PlanReader<StoredRecord>, overlay: Overlay): StoredRecord | undefined {
  let record = reader.next();
  while (record && overlay.has(record.key)) record = reader.next();
  return record;
}

function nextExisting(versions: Iterator<StoredRecord | undefined>): StoredRecord | undefined {
  for (let step = versions.next(); !step.done; step = versions.next())
    if (step.value) return step.value;
  return undefined;
}

type Visit = (record: StoredRecord, body: Body | undefined) => boolean;

/** Keeps the indexes of a block whose documents pass, and returns their count. */
type BlockFilter = (block: Int32Array, length: number) => number;

/** By a part of the criteria. */
export function criteriaFilter(
  { test, path, value, literal }: CriteriaPart,
  decoded: DecodedDocuments,
): BlockFilter {
  const { documents } = decoded;
  const column = path === undefined ? undefined : decoded.column(path);
  if (!column || !value) {
    return (block, length) => {
      let kept = 0;
      for (let at = 0; at < length; at++) {
        const place = block[at] as number;
        if (test(documents[place] as object)) block[kept++] = place;
      }
      return kept;
    };
  }
  return (block, length) => {
    let kept = 0;
    for (let at = 0; at < length; at++) {
      const place = block[at] as number;
      const found = column[place];
      const passes =
        typeof found === 'object' && Array.isArray(found)
          ? test(documents[place] as object)
          : // Without a call: half the time of a scan that begins with an equality.
            literal === undefined
            ? value(found, true)
            : found === literal;
      if (passes) block[kept++] = place;
    }
    return kept;
  };
}

/**
 * By the last key that still counts. Places must ascend: of equal keys a later one comes too late.
 */
function orderFilter(
  { fields, collation }: SortOrder,
  decoded: DecodedDocuments,
  matches: SortedMatches,
): BlockFilter {
  const [first, second] = fields;
  const column = first && !second ? decoded.column(first.path) : undefined;
  const ascending = first?.direction === 1;
  if (!column) return (_, length) => length;
  return (block, length) => {
    const { worstKey } = matches;
    if (typeof worstKey === 'number')
      return keepNumbers(block, length, column, worstKey, ascending);
    if (typeof worstKey === 'string' && !collation)
      return keepStrings(block, length, column, worstKey, ascending);
    return length;
  };
}

// Two functions of the same shape: a comparison that has seen both numbers and strings is twice as
// slow in V8. Values of another kind, and NaN, are left to the comparison.

function keepNumbers(
  block: Int32Array,
  length: number,
  column: readonly unknown[],
  worst: number,
  ascending: boolean,
): number {
  let kept = 0;
  for (let at = 0; at < length; at++) {
    const place = block[at] as number;
    const key = column[place];
    if (typeof key === 'number' && (ascending ? key >= worst : key <= worst)) continue;
    block[kept++] = place;
  }
  return kept;
}

function keepStrings(
  block: Int32Array,
  length: number,
  column: readonly unknown[],
  worst: string,
  ascending: boolean,
): number {
  let kept = 0;
  for (let at = 0; at < length; at++) {
    const place = block[at] as number;
    const key = column[place];
    if (typeof key === 'string' && (ascending ? key >= worst : key <= worst)) continue;
    block[kept++] = place;
  }
  return kept;
}
