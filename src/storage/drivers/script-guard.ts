import { wrap } from 'idb';

/**
 * Firefox ends a page's script without an exception when it closes the last tab of a site, and then commits what the
 * script has put so far: half a save. So a request that succeeds while the script awaits none aborts the transaction.
 */
export class ScriptGuard {
  #awaited: IDBRequest | undefined;
  #isWhole = false;

  constructor(transaction: IDBTransaction) {
    const onSuccess = ({ target }: Event) => {
      if (target === this.#awaited) this.#awaited = undefined;
      else if (!this.#awaited && !this.#isWhole) abort(transaction);
    };
    transaction.addEventListener('success', onSuccess, true);
  }

  /** @returns awaits the request, now or later. */
  waiter(request: IDBRequest): () => Promise<unknown> {
    const settled = wrap(request);
    settled.catch(() => undefined);
    return () => {
      if (request.readyState === 'pending') this.#awaited = request;
      return settled;
    };
  }

  /** Must be called when the whole batch is put. */
  finish(): void {
    this.#isWhole = true;
  }
}

/** Aborts a transaction, unless it has ended. */
export function abort(transaction: { abort(): void }): void {
  try {
    transaction.abort();
  } catch (error) {
    // It has aborted by itself.
    if ((error as DOMException).name !== 'InvalidStateError') throw error;
  }
}
