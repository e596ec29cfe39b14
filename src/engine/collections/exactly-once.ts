import { answerLost } from '../collection-errors.ts';
import type { IdempotencyKey } from '../protocol/idempotency-key.ts';
import { isEdit } from '../protocol/request-kinds.ts';
import type { Request } from '../protocol/requests.ts';
import type { AppliedChanges } from '../records/applied-changes.ts';
import { type Coroutine, isCoroutine, type Result } from '../scheduling/coroutine.ts';

/** Applies requests to the documents or values of a collection. */
export interface Store {
  execute(request: Request): Result<unknown>;
}

/** Applies each change of a client once, however often it is replayed or retried. */
export class ExactlyOnce {
  readonly #store: Store;
  readonly #applied: AppliedChanges;
  readonly #name: string;

  constructor(store: Store, applied: AppliedChanges, name: string) {
    this.#store = store;
    this.#applied = applied;
    this.#name = name;
  }

  /** @throws {CollectionError} `answer_lost`, for a change that was applied before */
  execute(request: Request, key: IdempotencyKey | undefined): Result<unknown> {
    // The parts before the last change nothing yet: the last says whether all are applied.
    const isWhole = request.op !== 'insertPart' || request.last;
    if (!key || !isEdit(request) || !isWhole) return this.#store.execute(request);
    if (this.#applied.has(key)) {
      this.abandon(request);
      throw answerLost(this.#name);
    }
    const result = this.#store.execute(request);
    if (isCoroutine(result)) return this.#noteAfter(result, key);
    this.#applied.note(key);
    return result;
  }

  /** Drops the parts of an `insertMany` that is not applied. */
  abandon(request: Request): void {
    if (request.op === 'insertPart') this.#store.execute({ ...request, op: 'insertAbandon' });
  }

  /** In the same turn as the change, so that no save comes in between. */
  *#noteAfter<T>(change: Coroutine<T>, key: IdempotencyKey): Coroutine<T> {
    const value = yield* change;
    this.#applied.note(key);
    return value;
  }
}
