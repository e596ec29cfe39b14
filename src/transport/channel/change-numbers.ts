import type { FirstSequenceNumbers } from '../../engine/protocol/idempotency-key.ts';
import { isEdit } from '../../engine/protocol/request-kinds.ts';
import type { Request } from '../../engine/protocol/requests.ts';

const none: FirstSequenceNumbers = [];

/** Numbers the changes of a client, those through each handle one after the other, so that engines know them again. */
export class ChangeNumbers {
  readonly #last = new Map<number, number>();

  /** Numbers the changes in a batch. */
  take(batch: readonly Request[]): FirstSequenceNumbers {
    let first: [number, number][] | undefined;
    for (const request of batch) {
      if (!isEdit(request)) continue;
      const { handle } = request;
      const number = (this.#last.get(handle) ?? 0) + 1;
      this.#last.set(handle, number);
      first ??= [];
      if (!first.some(([known]) => known === handle)) first.push([handle, number]);
    }
    return first ?? none;
  }
}

/** The changes in a batch, with their places and numbers. */
export function* numbered(
  batch: readonly Request[],
  first: FirstSequenceNumbers,
): Generator<readonly [request: Request, place: number, number: number]> {
  if (first.length === 0) return;
  const next = new Map(first);
  for (const [place, request] of batch.entries()) {
    if (!isEdit(request)) continue;
    const number = next.get(request.handle) as number;
    next.set(request.handle, number + 1);
    yield [request, place, number];
  }
}
