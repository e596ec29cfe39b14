import { type Coroutine, outcome } from '../../async/coroutine.ts';
import type { Pace } from '../../async/pace.ts';
import type { Body } from '../../codec/body.ts';
import { ARCHIVED, documentBuilder, isManaged } from '../../protocol/managed.ts';
import type { AggregateAsk, Selection } from '../../protocol/requests.ts';
import type { CompiledStage } from '../../query/pipeline/compile-pipeline.ts';
import { BATCH } from '../../query/pipeline/run.ts';
import { rootsOf, type Sink, type Stage } from '../../query/pipeline/stage.ts';
import { type GroupStage, isGroup } from '../../query/pipeline/stages/grouping.ts';
import type { StoredRecord } from '../../storage/segments/stored-record.ts';
import type { OperationContext } from '../collection-context.ts';
import { DocumentQuery } from '../find/query.ts';
import { decodedValue } from '../records/scan.ts';

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

/** Reads the documents that a pipeline begins with. */
export class PipelineSource {
  readonly query: DocumentQuery;
  readonly #context: OperationContext;
  readonly #selection: Selection;
  readonly #pace: Pace;
  /** Whether stages look at managed fields, or at whole documents. */
  readonly #isWhole: boolean;

  constructor(context: OperationContext, { selection, stages }: PipelineStart, pace: Pace) {
    this.#context = context;
    this.#selection = selection;
    this.#pace = pace;
    this.query = new DocumentQuery(context, selection, pace);
    const roots = rootsOf(stages);
    this.#isWhole = !roots || [...roots].some(isManaged);
  }

  /**
   * What the first stage makes, where that needs no document: their number, or the number of each
   * key of an index.
   */
  *counted(first: Stage | undefined): Coroutine<readonly object[] | undefined> {
    if (first?.counts) {
      const count = yield* this.query.count();
      return count > 0 ? [{ [first.counts]: count }] : [];
    }
    return isGroup(first) ? this.#groupsOf(first) : undefined;
  }

  #groupsOf({ id, fields }: GroupStage): readonly object[] | undefined {
    const { indexes, records } = this.#context;
    const { criteria, archived } = this.#selection;
    const index = [...indexes.byName.values()].find(({ definition, unkeyed }) => {
      const { fields: paths, multi, where, collation } = definition;
      const isPlain = !multi && !where && !collation && unkeyed.size === 0;
      return isPlain && paths.length === 1 && paths[0] === id.path;
    });
    const isCounting = fields.every(({ unit }) => unit !== undefined);
    const isCut = criteria || this.#isCut || records.overlay || archived === 'only';
    if (!index || !isCounting || isCut) return undefined;
    const { wanted } = this.query.compiled;
    const groups: { readonly key: unknown; readonly rank: number; count: number }[] = [];
    for (const { keys, entries } of index.batches()) {
      for (const [at, key] of keys.entries()) {
        const entry = entries[at] as StoredRecord;
        if (this.#hidesSome && !wanted(entry)) continue;
        const last = groups.at(-1);
        // The entries of a key ascend by rank.
        if (last && index.isSame(last.key, key)) last.count++;
        else groups.push({ key, rank: entry.rank, count: 1 });
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
    if (!(yield* this.#readColumns(sink))) yield* this.#readRecords(sink);
  }

  /** Where all documents are decoded and count, and the first stage looks at columns. */
  *#readColumns(sink: Sink): Coroutine<boolean> {
    const { records } = this.#context;
    const { compiled, plan } = this.query;
    if (!sink.takeBlock || this.#isWhole || plan.kind !== 'scan' || compiled.test) return false;
    const decoded = this.#isCut || this.#hidesSome ? undefined : records.decoded();
    if (!decoded) return false;
    const { documents } = decoded;
    const column = (path: string) => decoded.column(path);
    for (let from = 0; from < documents.length; from += BLOCK) {
      sink.takeBlock({ documents, from, to: Math.min(from + BLOCK, documents.length), column });
      if (this.#pace.late) yield* this.#pace.pause();
    }
    return true;
  }

  *#readRecords(sink: Sink): Coroutine<void> {
    const { records, settings } = this.#context;
    const release = records.pin();
    try {
      const found = yield* this.query.records();
      const keep = settings.caching && records.bodies.resident;
      const build = documentBuilder(settings);
      const fieldsOf = (record: StoredRecord, body: Body) =>
        decodedValue(record, body, keep) as object;
      const documentOf = this.#isWhole
        ? (one: StoredRecord, body: Body) =>
            build(one.key, one.flags, one.stamps, fieldsOf(one, body))
        : fieldsOf;
      for (let from = 0; from < found.length && !sink.isFull; from += BATCH) {
        const batch = found.slice(from, from + BATCH);
        const bodies = yield* records.bodies.ofAll(batch);
        yield* outcome(
          sink.take(batch.map((record, at) => documentOf(record, bodies[at] as Body))),
        );
        if (this.#pace.late) yield* this.#pace.pause();
      }
    } finally {
      release();
    }
  }
}
