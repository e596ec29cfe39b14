import { peek } from '../../codec/body.ts';
import { CriteriaError, nameCollection } from '../../errors/criteria-error.ts';
import { compilePath } from '../../query/criteria/compile-path.ts';
import { eachPresent } from '../../query/criteria/condition.ts';
import type { OperationContext } from '../collections/collection-context.ts';
import type { After, Selection } from '../protocol/requests.ts';
import type { Coroutine } from '../scheduling/coroutine.ts';
import type { Records } from '../snapshots/records.ts';
import { type CompiledSelection, compileSelection } from './compiled-selection.ts';
import type { PageEnd } from './result-collector.ts';

const isMissing = eachPresent((_value, isPresent) => !isPresent);

/**
 * Where a page starts: behind the document given as `after`, which may be of any origin. Values of the sort that it lacks
 * are those of the stored document.
 *
 * @throws {CriteriaError} `after_unknown`
 */
export function* pageStart(
  context: OperationContext,
  { sort, after }: Partial<Selection>,
): Coroutine<PageEnd | undefined> {
  if (!after) return undefined;
  const { order, sorted } = compileSelection(context, { sort });
  try {
    return yield* behind(after, context.records, order, sorted);
  } catch (error) {
    throw nameCollection(error, context.settings.name);
  }
}

function* behind(
  { id, rank, key, body }: After,
  records: Records,
  order: CompiledSelection['order'],
  sorted: CompiledSelection['sorted'],
): Coroutine<PageEnd> {
  if (rank !== undefined && body === undefined) return { key, rank };
  const record = records.get(id);
  const found = rank ?? record?.rank;
  if (found === undefined) throw unknown('was deleted');
  if (!order) return { key, rank: found };
  const stored = record && sorted(record, yield* records.bodies.of(record));
  const document: Record<string, unknown> = { ...stored, ...(peek(body ?? '{}') as object) };
  for (const { path } of order.fields) {
    const segments = path.split('.');
    const [root] = segments as [string];
    if (!compilePath(segments, isMissing, 'document')(document)) continue;
    if (!stored) throw unknown(`was deleted, and lacks "${path}" of the sort`);
    document[root] = (stored as Record<string, unknown>)[root];
  }
  const own = order.keyOf(document);
  // A copy by JSON has texts in the place of Dates.
  const isJson = stored && order.compare(own, order.keyOf(throughJson(stored))) === 0;
  return { key: isJson ? order.keyOf(stored) : own, rank: found };
}

function throughJson(document: object): object {
  const text = JSON.stringify(document, (_, value) =>
    typeof value === 'bigint' ? String(value) : value,
  );
  return JSON.parse(text);
}

function unknown(why: string): CriteriaError {
  const message = `The document given as "after" ${why}; pass another.`;
  return new CriteriaError('after_unknown', message, { place: 'after' });
}
