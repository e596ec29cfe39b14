import { notInMemory } from '../collection-errors.ts';
import type { OperationContext } from '../collections/collection-context.ts';
import type { HostedCollection } from '../collections/hosted-collection.ts';
import { checkVersion } from '../collections/turns/check-version.ts';
import type { IndexDeclaration } from '../documents/index-declarations.ts';
import type { IdempotencyKey } from '../protocol/idempotency-key.ts';
import type { OperationName, Request } from '../protocol/requests.ts';
import { isCoroutine, runSync } from '../scheduling/coroutine.ts';
import type { Transaction } from '../transactions/transaction.ts';

type Declaration = IndexDeclaration | undefined;

/** What a read looks into now. @throws as {@link checkAtHand} */
export function nearContext(
  collection: HostedCollection,
  declaration: Declaration,
): OperationContext {
  checkAtHand(collection, 'get', declaration);
  collection.availability.check();
  return collection.visible;
}

/** Executes a request now. @throws as {@link checkAtHand} */
export function executeNow(
  collection: HostedCollection,
  request: Request,
  declaration: Declaration,
  key: IdempotencyKey | undefined,
  transaction?: Transaction,
): unknown {
  checkAtHand(collection, request.op, declaration, key);
  return collection.context.aborts.atOnce(() => {
    const result = collection.perform(request, undefined, key, transaction);
    return isCoroutine(result) ? runSync(result, collection.settings.name) : result;
  });
}

/**
 * Refuses a call that would have to wait.
 *
 * @throws {CollectionError} `sync_unavailable`; what all calls of the handle reject with, such as `schema_newer`.
 */
function checkAtHand(
  collection: HostedCollection,
  op: OperationName,
  declaration: Declaration,
  key?: IdempotencyKey,
): void {
  const { settings, context, queue } = collection;
  const { name, caching } = settings;
  collection.touch();
  if (!caching) throw notInMemory(name, 'it was opened with caching: false');
  const gate = context.declared.gateOf(declaration);
  if (gate?.error) throw gate.error;
  if (queue.busy || gate?.pending)
    throw notInMemory(name, 'earlier calls wait; await collection.ready first');
  if (declaration) checkVersion(context, op, declaration, key);
}
