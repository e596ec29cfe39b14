import type { Coroutine } from '../../async/coroutine.ts';
import type { Pace } from '../../async/pace.ts';
import type { Explained, ExplainedStage, Selection } from '../../protocol/requests.ts';
import type { UnfitIndex } from '../../query/plan/plan.ts';
import {
  conjunctionOf,
  givenBy,
  isImplied,
  type PlannedQuery,
} from '../../query/plan/plan-query.ts';
import { orderIn } from '../../query/value/collation.ts';
import type { OperationContext } from '../collection-context.ts';
import { DocumentScans } from '../find/document-scans.ts';
import type { DocumentQuery } from '../find/query.ts';
import { livePlanOf } from './live-plan.ts';
import { type PipelineAsk, resultOf } from './result.ts';

/** How a query is answered, and what that costs: it is run once. */
export function* explainQuery(
  context: OperationContext,
  selection: Partial<Selection>,
): Coroutine<Explained> {
  const began = context.clock.elapsed();
  const query = yield* new DocumentScans(context).query(selection);
  const records = yield* query.records();
  const { keys, documents } = query.candidates;
  return {
    ...planOf(query),
    keys_examined: keys,
    documents_examined: documents,
    returned: records.length,
    engine_ms: context.clock.elapsed() - began,
  };
}

export function* explainPipeline(
  context: OperationContext,
  ask: PipelineAsk,
  pace: Pace,
): Coroutine<Explained> {
  const began = context.clock.elapsed();
  const answer = yield* resultOf(context, ask, pace);
  const { compiled, documents, start, source, relations } = answer;
  const live = ask.related ? undefined : livePlanOf(start);
  let parts = 0;
  const stages = compiled.map(({ name, parts: own }, at): ExplainedStage => {
    const planned = at < start.absorbed + source.counted;
    if (at >= start.absorbed) parts += own.length;
    return { stage: name, planned, live: live && parts <= live.kept ? 'differences' : 'again' };
  });
  return {
    ...planOf(source.query),
    plan: source.plan,
    ...(relations.length > 0 && { relations }),
    stages,
    keys_examined: source.keys,
    documents_examined: source.documents,
    returned: documents.length,
    engine_ms: context.clock.elapsed() - began,
  };
}

function planOf({ plan, planned }: DocumentQuery): Pick<Explained, 'plan' | 'unfit'> {
  const unfit = unfitIndexes(planned);
  return { plan, ...(unfit.length > 0 && { unfit }) };
}

/**
 * The indexes that cannot serve a query: of another collation, or with a `where` that its criteria
 * do not imply.
 */
function unfitIndexes(query: PlannedQuery): UnfitIndex[] {
  const compare = orderIn(query.collation);
  const { terms } = conjunctionOf(query.criteria as Record<string, unknown>, compare);
  const known = [...terms, ...givenBy(query, compare)];
  return [...query.indexes.values()].flatMap(({ definition }) => {
    const { name: index, collation, where } = definition;
    if (collation !== query.collation) return { index, why: 'collation' };
    return where && !isImplied(where, known, compare) ? { index, why: 'where' } : [];
  });
}
