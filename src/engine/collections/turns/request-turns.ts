import type { FirstAnswer, FirstReads } from '../../first-reads/first-reads.ts';
import type { IdempotencyKey } from '../../protocol/idempotency-key.ts';
import { isEditing, isExclusive } from '../../protocol/operations.ts';
import type { Request } from '../../protocol/requests.ts';
import type { Result } from '../../scheduling/coroutine.ts';
import { Postponed, type SerialQueue } from '../../scheduling/serial-queue.ts';
import type { CollectionContext } from '../collection-context.ts';
import { checkVersion, type HandleDeclaration } from './check-version.ts';
import { atRest } from './storage-at-rest.ts';

/** Who asks. */
interface Asking {
  /** Of the handle. */
  readonly declaration: HandleDeclaration | undefined;
  /** Of a change by a client. */
  readonly key: IdempotencyKey | undefined;
  /** Whether it works on a transaction's view of the collection. */
  readonly isStaged: boolean;
}

/** Begins each request to a collection when it is due: in order, when its indexes are ready and storage rests. */
export class RequestTurns {
  readonly #context: CollectionContext;
  readonly #queue: SerialQueue;
  readonly #first: FirstReads;

  constructor(context: CollectionContext, queue: SerialQueue, first: FirstReads) {
    this.#context = context;
    this.#queue = queue;
    this.#first = first;
  }

  /** Executes a request in its turn, or answers it before that, while the collection is being opened. */
  take(request: Request, asking: Asking, perform: () => Result<unknown>): unknown {
    const resumed = this.#first.resume(request);
    if (resumed) return resumed.value;
    if (!asking.isStaged && changes(request)) this.#queue.hasChanges = true;
    // What follows a change must see it.
    const version = asking.declaration?.version;
    const first = this.#queue.hasChanges ? undefined : this.#first.answer(request, version);
    if (!first) return this.#enter(request, asking, perform);
    // Known when the request is due, at the end of the opening.
    let answer: FirstAnswer | undefined;
    const queued = this.#enter(request, asking, perform, () => answer !== undefined);
    return first.then((found) => {
      answer = found;
      return found ? found.value : queued;
    });
  }

  /** @param isAnswered Whether nobody waits for its result any more, nor for its failure. */
  #enter(
    request: Request,
    asking: Asking,
    perform: () => Result<unknown>,
    isAnswered = () => false,
  ): unknown {
    const { storage, terminable } = this.#context;
    const { declaration, key, isStaged } = asking;
    const mustRest = terminable && request.mayHang === true;
    // What follows a request that waits for storage must not overtake it. Storage may be busy by its turn.
    const mayWait = (): boolean => mustRest && (storage.isBusy || this.#queue.busy);
    const enter = (): unknown =>
      this.#queue.enter((!isStaged && isExclusive(request)) || mayWait(), () => {
        if (isAnswered()) return undefined;
        const isSame = !declaration || checkVersion(this.#context, request.op, declaration, key);
        const gate = isSame && this.#context.declared.gateOf(declaration);
        if (gate && request.op !== 'drop') {
          const { pending, error } = gate;
          if (pending) return new Postponed(pending.then(enter));
          if (error) throw error;
        }
        return mustRest ? atRest(storage, perform) : perform();
      });
    return enter();
  }
}

/** Whether a later read may find something else. */
function changes(request: Request): boolean {
  const { op } = request;
  return isEditing(op) || (isExclusive(request) && op !== 'open');
}
