import type { FirstSequenceNumbers } from '../../engine/protocol/idempotency-key.ts';
import { isEdit } from '../../engine/protocol/operations.ts';
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
  /** By handle, the drop in flight of its collection. A handle constructed later belongs to a new collection. */
  readonly #leaving = new Map<number, Request>();
  /** By settings, handles that nobody has any more. The engine keeps what they declared. */
  readonly #free = new Map<string, number[]>();

  /** Notes the opens and drops of a batch, and numbers its changes. Must be called once, before the batch is sent. */
  number(batch: readonly Request[]): FirstSequenceNumbers {
    let first: [number, number][] | undefined;
    for (const request of batch) {
      const { handle, op } = request;
      if (op === 'open') {
        this.#settings.set(handle, request.settings);
        this.#leaving.delete(handle);
      } else if (op === 'drop') this.#leave(request, this.nameOf(handle));
      else if (op === 'rename') this.#leave(request, request.from);
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
      if (this.#leaving.size > 0) this.#left(request, failures?.has(index));
    }
  }

  /** Name of a request's collection. */
  nameOf(handle: number): string | undefined {
    return this.#settings.get(handle)?.name;
  }

  all(): OpenedHandles {
    return [...this.#settings];
  }

  /** Nobody has the handle any more: the next with its settings takes its place, in the engine too. */
  free(handle: number): void {
    const settings = this.#settings.get(handle);
    // Its collection was dropped.
    if (!settings) return;
    const like = JSON.stringify(settings);
    const free = this.#free.get(like);
    if (free) free.push(handle);
    else this.#free.set(like, [handle]);
  }

  /** A free handle of a collection that was not dropped meanwhile. */
  take(settings: CollectionSettings): number | undefined {
    if (this.#free.size === 0) return undefined;
    const like = JSON.stringify(settings);
    const free = this.#free.get(like) ?? [];
    const handle = free.pop();
    if (free.length === 0) this.#free.delete(like);
    if (handle === undefined) return undefined;
    return this.#settings.has(handle) ? handle : this.take(settings);
  }

  #left(request: Request, isRefused = false): void {
    for (const [handle, drop] of this.#leaving) {
      if (drop !== request) continue;
      this.#leaving.delete(handle);
      if (!isRefused) this.#settings.delete(handle);
    }
  }

  #leave(drop: Request, name: string | undefined): void {
    for (const [handle, settings] of this.#settings)
      if (settings.name === name) this.#leaving.set(handle, drop);
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
