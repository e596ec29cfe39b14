import type { IdempotencyKey } from '../protocol/idempotency-key.ts';
import { isEdit } from '../protocol/operations.ts';
import type { Request } from '../protocol/requests.ts';

/**
 * The idempotency key of a change; `undefined` where it has none.
 *
 * @param next The sequence number of the next change by handle; advanced by each change.
 */
export function numberChange(
  request: Request,
  client: string,
  next: Map<number, number>,
): IdempotencyKey | undefined {
  const { handle } = request;
  if (request.op === 'commit') {
    for (const [changed, number] of request.numbers) next.set(changed, number + 1);
    return undefined;
  }
  const number = next.get(handle);
  if (number === undefined || !isEdit(request)) return undefined;
  next.set(handle, number + 1);
  return { client, handle, number };
}
