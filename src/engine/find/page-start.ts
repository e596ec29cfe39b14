import type { Coroutine } from '../../async/coroutine.ts';
import { peek } from '../../codec/body.ts';
import { CriteriaError, nameCollection } from '../../errors/errors.ts';
import type { After, Selection } from '../../protocol/requests.ts';
import { compilePath } from '../../query/criteria/compile-path.ts';
import { eachPresent } from '../../query/criteria/condition.ts';
import type { OperationContext } from '../collection-context.ts';
import type { Records } from '../records/record-store.ts';
import { type CompiledSelection, compileSelection } from './compiled-selection.ts';
import type { CollectedPageEnd } from './result-collector.ts';

const isMissing = eachPresent((_value, isPresent) => !isPresent);

/**
 * Where a page starts: behind the document given as `after`, which may be of any origin. Values of
 * the sort that it lacks are those of the stored document.
 *
 * @throws {CriteriaError} `after_unknown`
 */
export function* pageStart(
  context: OperationContext,
  { sort, after, collation }: Partial<Selection>,
): Coroutine<CollectedPageEnd> {
  const { order, sorted } = compileSelection(context, { sort, collation });
  try {
    return yield* behind(after as After, context.records, order, sorted);
  } catch (error) {
    throw nameCollection(error, context.settings.name);
  }
}

function* behind(
  { id, rank, key, body }: After,
  records: Records,
  order: CompiledSelection['order'],
  sorted: CompiledSelection['sorted'],
): Coroutine<CollectedPageEnd> {
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
