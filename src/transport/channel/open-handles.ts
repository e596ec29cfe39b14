import type { FirstSequenceNumbers } from '../../engine/protocol/idempotency-key.ts';
import { isEdit } from '../../engine/protocol/request-kinds.ts';
import type { BatchReply, OpenedHandles, Request } from '../../engine/protocol/requests.ts';
import type { CollectionSettings } from '../../engine/protocol/settings.ts';

const none: FirstSequenceNumbers = [];

/**
 * A client's open handles, with the sequence number of the last change of each. Client, handle and number are a change's
 * idempotency key: an engine recognises a change that was applied before.
 */
export class OpenHandles {
  readonly #settings = new Map<number, CollectionSettings>();
  readonly #lastNumbers = new Map<number, number>();
  /** For each drop in flight, the handles to its collection. A handle constructed later belongs to a new collection. */
  readonly #dropping = new WeakMap<Request, readonly number[]>();

  /** Notes the opens and drops of a batch, and numbers its changes. Must be called once, before the batch is sent. */
  number(batch: readonly Request[]): FirstSequenceNumbers {
    let first: [number, number][] | undefined;
    for (const request of batch) {
      const { handle, op } = request;
      if (op === 'open') this.#settings.set(handle, request.settings);
      else if (op === 'drop') this.#dropping.set(request, this.#of(this.nameOf(handle)));
      else if (op === 'rename') this.#dropping.set(request, this.#of(request.from));
      if (request.op === 'commit') {
        this.#numberCommit(request);
        for (const [changed, number] of request.numbers) first = withFirst(first, changed, number);
      } else if (isEdit(request)) first = withFirst(first, handle, this.#nextNumber(handle));
    }
    return first ?? none;
  }

  #numberCommit({ changes, numbers }: Request<'commit'>): void {
    for (const { handle } of changes)
      if (!numbers.some(([known]) => known === handle))
        numbers.push([handle, this.#nextNumber(handle)]);
  }

  #nextNumber(handle: number): number {
    const number = (this.#lastNumbers.get(handle) ?? 0) + 1;
    this.#lastNumbers.set(handle, number);
    return number;
  }

  /** Forgets the handles of dropped and renamed collections: no later engine may make these anew. */
  noteReplies(batch: readonly Request[], { failures }: BatchReply): void {
    for (const [index, request] of batch.entries()) {
      const { code } = (failures?.get(index) ?? {}) as { code?: string };
      if (code === 'collection_dropped' || code === 'collection_renamed')
        this.#settings.delete(request.handle);
      if (failures?.has(index)) continue;
      for (const handle of this.#dropping.get(request) ?? []) this.#settings.delete(handle);
    }
  }

  /** Name of a request's collection. */
  nameOf(handle: number): string | undefined {
    return this.#settings.get(handle)?.name;
  }

  all(): OpenedHandles {
    return [...this.#settings];
  }

  #of(name: string | undefined): number[] {
    return [...this.#settings].flatMap(([handle, settings]) =>
      settings.name === name ? handle : [],
    );
  }
}

/** Adds the first number of a handle. */
function withFirst(
  known: [number, number][] | undefined,
  handle: number,
  number: number,
): [number, number][] {
  const first = known ?? [];
  if (!first.some(([own]) => own === handle)) first.push([handle, number]);
  return first;
}

/** The changes of a batch, with their indexes and sequence numbers: 0 for a commit, which has several. */
export function* numberedChanges(
  batch: readonly Request[],
  first: FirstSequenceNumbers,
): Generator<readonly [request: Request, index: number, number: number]> {
  if (first.length === 0) return;
  const next = new Map(first);
  for (const [index, request] of batch.entries()) {
    if (request.op === 'commit') {
      for (const [handle, number] of request.numbers) next.set(handle, number + 1);
      yield [request, index, 0];
    }
    if (!isEdit(request)) continue;
    const number = next.get(request.handle) as number;
    next.set(request.handle, number + 1);
    yield [request, index, number];
  }
}
