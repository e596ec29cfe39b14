import { answerLost } from '../../collection-errors.ts';
import type { IdempotencyKey } from '../../protocol/idempotency-key.ts';
import { isCompared, isEdit } from '../../protocol/operations.ts';
import type { Request } from '../../protocol/requests.ts';
import { isCoroutine, type Result } from '../../scheduling/coroutine.ts';
import type { CollectionContext } from '../collection-context.ts';

/** Executes requests about documents or values. */
export interface Store {
  execute(request: Request): Result<unknown>;
}

/**
 * Executes a request, unless it is a change that was applied before.
 *
 * @throws {CollectionError} `answer_lost`, for a change that was applied before
 */
export function executeOnce(
  store: Store,
  { records, settings }: CollectionContext,
  request: Request,
  key: IdempotencyKey | undefined,
): Result<unknown> {
  // The parts before the last change nothing yet: the last says whether all are applied.
  const isWhole = request.op !== 'insertPart' || request.last;
  if (!key || !isEdit(request) || !isWhole) return store.execute(request);
  const { applied } = records;
  if (applied.has(key)) {
    abandonParts(store, request);
    throw answerLost(settings.name);
  }
  const result = store.execute(request);
  // A comparison that failed has changed nothing: if its reply is lost, the client must hear it again.
  const isApplied = (value: unknown) => value !== false || !isCompared(request);
  if (isCoroutine(result)) return applied.noteAfter(result, key, isApplied);
  if (isApplied(result)) applied.note(key);
  return result;
}

/** Drops the parts of an `insertMany` that is not applied. */
export function abandonParts(store: Store, request: Request): void {
  if (request.op === 'insertPart') store.execute({ ...request, op: 'insertAbandon' });
}
