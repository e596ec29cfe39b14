import { type Coroutine, outcome } from '../../async/coroutine.ts';
import type { Pace } from '../../async/pace.ts';
import type { Body } from '../../codec/body.ts';
import { firstWhere } from '../../codec/first-where.ts';
import type { AggregateAsk } from '../../protocol/live-protocol.ts';
import { ARCHIVED, type DocumentBuilder, documentBuilder } from '../../protocol/managed.ts';
import type { Selection } from '../../protocol/requests.ts';
import { WHOLE } from '../../query/index/key-range.ts';
import type { CompiledStage } from '../../query/pipeline/compile-pipeline.ts';
import { BATCH } from '../../query/pipeline/run.ts';
import { rootsOf, type Sink, type Stage } from '../../query/pipeline/stage.ts';
import { type GroupStage, isGroup } from '../../query/pipeline/stages/grouping.ts';
import type { Plan } from '../../query/plan/plan.ts';
import { isManaged, type StoredRecord } from '../../storage/segments/stored-record.ts';
import type { OperationContext } from '../collection-context.ts';
import { criteriaFilter } from '../find/candidates.ts';
import { documentReaders } from '../find/compiled-selection.ts';
import { DocumentQuery } from '../find/query.ts';
import type { DecodedDocuments } from '../records/record-store.ts';

/** Decoded documents that are looked at together. */
const BLOCK = 1024;

/** How a pipeline begins: what the planner answers of it, and the stages that follow. */
export interface PipelineStart {
  readonly selection: Selection;
  /** How many stages it answers. */
  readonly absorbed: number;
  readonly stages: readonly Stage[];
}

/** Splits a pipeline: what it selects, sorts and cuts first is a query. */
export function startOf(
  compiled: readonly CompiledStage[],
  { archived, collation }: Pick<AggregateAsk, 'archived' | 'collation'>,
): PipelineStart {
  const criteria: object[] = [];
  let [sort, skip, limit]: [object?, number?, number?] = [];
  let absorbed = 0;
  for (const { name, operand } of compiled) {
    const isCut = skip !== undefined || limit !== undefined;
    if (name === '$match' && !isCut) criteria.push(operand as object);
    else if (name === '$sort' && !sort && !isCut) sort = operand as object;
    else if (name === '$skip' && limit === undefined) skip = (skip ?? 0) + (operand as number);
    else if (name === '$limit') limit = Math.min(limit ?? Infinity, operand as number);
    else break;
    absorbed++;
  }
  const [first, second] = criteria;
  return {
    selection: {
      criteria: second ? { $and: criteria } : first,
      ...{ archived, collation, sort, skip, limit },
    },
    absorbed,
    stages: compiled.slice(absorbed).flatMap(({ parts }) => parts),
  };
}

/** Whether stages look at managed fields, or at whole documents. */
export function readsWhole(stages: readonly Stage[]): boolean {
  const roots = rootsOf(stages);
  return !roots || [...roots].some(isManaged);
}

/** Where those that are like the first one end: most batches have few keys, many times each. */
function endOfRun(length: number, from: number, isLike: (at: number) => boolean): number {
  let low = from + 1;
  let step = 1;
  for (; low + step <= length && isLike(low + step - 1); step *= 2) low += step;
  return firstWhere(low, Math.min(length, low + step - 1), (at) => !isLike(at));
}

export class PipelineSource {
  readonly query: DocumentQuery;
  /** Whether the first stage needed no documents: how many stages that is. */
  counted = 0;
  /** The index whose keys made groups. */
  #index: string | undefined;
  #keys = 0;
  #documents = 0;
  readonly #context: OperationContext;
  readonly #selection: Selection;
  readonly #pace: Pace;
  readonly #isWhole: boolean;
  readonly #build: DocumentBuilder;

  constructor(context: OperationContext, { selection, stages }: PipelineStart, pace: Pace) {
    this.#context = context;
    this.#selection = selection;
    this.#pace = pace;
    this.#build = documentBuilder(context.settings);
    this.query = new DocumentQuery(context, selection, pace);
    this.#isWhole = readsWhole(stages);
  }

  /** What the first stage makes without a document: their number, or that of each index key. */
  *count(first: Stage | undefined): Coroutine<readonly object[] | undefined> {
    let made: readonly object[] | undefined;
    if (first?.counts) {
      const count = yield* this.query.count();
      made = count > 0 ? [{ [first.counts]: count }] : [];
    } else if (isGroup(first)) made = this.#groupsOf(first);
    this.counted = made ? 1 : 0;
    return made;
  }

  get plan(): Plan {
    const index = this.#index;
    if (!index) return this.query.plan;
    return { kind: 'index', index, ranges: [WHOLE], reverse: false, exact: true, ordered: false };
  }

  /** Index keys looked at. */
  get keys(): number {
    return this.query.candidates.keys + this.#keys;
  }

  /** Documents looked into. */
  get documents(): number {
    return Math.max(this.query.candidates.documents, this.#documents);
  }

  #groupsOf({ id, fields }: GroupStage): readonly object[] | undefined {
    const { indexes, records } = this.#context;
    const { criteria, archived, collation } = this.#selection;
    const index = [...indexes.byName.values()].find(({ definition, unkeyed }) => {
      const { fields: paths, multi, where } = definition;
      const isPlain = !multi && !where && unkeyed.size === 0;
      const isSame = definition.collation === collation && paths.length === 1;
      return isPlain && isSame && paths[0] === id.path;
    });
    const isCounting = fields.every(({ unit }) => unit !== undefined);
    const isCut = criteria || this.#isCut || records.overlay || archived === 'only';
    if (!index || !isCounting || isCut) return undefined;
    this.#index = index.definition.name;
    const { wanted } = this.query.compiled;
    const hidesSome = this.#hidesSome;
    const groups: { readonly key: unknown; readonly rank: number; count: number }[] = [];
    for (const { keys, entries } of index.batches()) {
      this.#keys += keys.length;
      for (let from = 0, to = 0; from < keys.length; from = to) {
        to = endOfRun(keys.length, from, (at) => index.isSame(keys[from], keys[at]));
        const own = entries.slice(from, to) as StoredRecord[];
        const shown = hidesSome ? own.filter(wanted) : own;
        // The entries of a key ascend by rank.
        const [first] = shown;
        if (!first) continue;
        const count = shown.length;
        // Keys that are the same may look different.
        const key = keys[from + own.indexOf(first)];
        const last = groups.at(-1);
        if (last && index.isSame(last.key, key)) last.count += count;
        else groups.push({ key, rank: first.rank, count });
      }
    }
    groups.sort((a, b) => a.rank - b.rank);
    return groups.map(({ key, count }) => {
      const made: Record<string, unknown> = { _id: key };
      for (const { name, unit } of fields) made[name] = count * (unit as number);
      return made;
    });
  }

  get #isCut(): boolean {
    const { sort, skip, limit } = this.#selection;
    return sort !== undefined || skip !== undefined || limit !== undefined;
  }

  /** Whether some records may not count: archived or expired ones. */
  get #hidesSome(): boolean {
    const { records } = this.#context;
    const { archived } = this.#selection;
    const flagged = archived !== true && (archived === 'only' || (records.flags & ARCHIVED) !== 0);
    return flagged || records.hides !== undefined;
  }

  *read(sink: Sink): Coroutine<void> {
    const { records } = this.#context;
    const release = records.pin();
    try {
      const isScan = this.query.plan.kind === 'scan' && this.query.compiled.byFields;
      const decoded = isScan && !this.#isCut && !this.#hidesSome ? records.decoded() : undefined;
      yield* decoded ? this.#readDecoded(decoded, sink) : this.#readRecords(sink);
    } finally {
      release();
    }
  }

  /** Where all documents are decoded, and all that match count. */
  *#readDecoded(decoded: DecodedDocuments, sink: Sink): Coroutine<void> {
    const { documents } = decoded;
    const records = this.#context.records.list();
    const filters = this.query.compiled.parts.map((part) => criteriaFilter(part, decoded));
    const rows = new Int32Array(BLOCK);
    const columns = new Map<string, readonly unknown[] | undefined>();
    // One that has to be made first is made for the next run: this one is as fast without.
    const column = (path: string) => {
      if (!columns.has(path)) columns.set(path, decoded.column(path));
      return columns.get(path);
    };
    for (let from = 0; from < documents.length && !sink.isFull; from += BLOCK) {
      let length = Math.min(BLOCK, documents.length - from);
      for (let at = 0; at < length; at++) rows[at] = from + at;
      this.#documents = from + length;
      for (const filter of filters) length = filter(rows, length);
      if (sink.takeBlock && !this.#isWhole) sink.takeBlock({ documents, rows, length, column });
      else {
        const found: object[] = [];
        for (let at = 0; at < length; at++) {
          const row = rows[at] as number;
          found.push(this.#documentOf(records[row] as StoredRecord, documents[row] as object));
        }
        yield* outcome(sink.take(found));
      }
      if (this.#pace.late) yield* this.#pace.pause();
    }
  }

  *#readRecords(sink: Sink): Coroutine<void> {
    const { records } = this.#context;
    const found = yield* this.query.records();
    const { fieldsOf, wholeOf } = documentReaders(this.#context);
    const read = this.#isWhole ? wholeOf : fieldsOf;
    for (let from = 0; from < found.length && !sink.isFull; from += BATCH) {
      const batch = found.slice(from, from + BATCH);
      const bodies = yield* records.bodies.ofAll(batch);
      this.#documents += batch.length;
      yield* outcome(sink.take(batch.map((record, at) => read(record, bodies[at] as Body))));
      if (this.#pace.late) yield* this.#pace.pause();
    }
  }

  #documentOf({ key, flags, stamps }: StoredRecord, fields: object): object {
    return this.#isWhole ? this.#build(key, flags, stamps, fields) : fields;
  }
}
