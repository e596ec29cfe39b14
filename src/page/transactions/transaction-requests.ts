import { isEditing } from '../../protocol/operations.ts';
import { DATABASE, type OperationName, type Request } from '../../protocol/requests.ts';
import { asAcknowledged } from '../connection/replay.ts';
import type { HandleRequest } from '../sending/sender.ts';

/** The requests of one run of a transaction, and those of them that the commit carries. */
export class TransactionRequests {
  /** The number of the run in requests. */
  readonly #transaction = Math.random();
  /** In the order of the calls; `undefined` where nothing has changed, or there is no reply yet. */
  readonly #changes: (Request | undefined)[] = [];
  /** Whether a pattern may have to be compared again by the commit. */
  #mayHang: true | undefined;

  /** The requests that have changed something. */
  get changes(): Request[] {
    return this.#changes.filter((change) => change !== undefined);
  }

  /** Numbers a request. @returns it, with a function that must be called with its reply. */
  next<Name extends OperationName>(
    handle: number,
    ask: HandleRequest<Name>,
  ): readonly [request: Request, replied: (reply: unknown) => void] {
    if (ask.mayHang) this.#mayHang = true;
    const request = { ...ask, handle, transaction: this.#transaction } as Request;
    if (!isEditing(ask.op)) return [request, nothingReplied];
    const index = this.#changes.push(undefined) - 1;
    const replied = (reply: unknown) => {
      this.#changes[index] = asAcknowledged({ ...ask, handle } as Request, reply);
    };
    return [request, replied];
  }

  commit(): Request<'commit'> {
    return {
      op: 'commit',
      handle: DATABASE,
      transaction: this.#transaction,
      changes: this.changes,
      numbers: [],
      mayHang: this.#mayHang,
    };
  }

  rollback(): Request<'rollback'> {
    return { op: 'rollback', handle: DATABASE, transaction: this.#transaction };
  }
}

function nothingReplied(): void {
  // A read changes nothing.
}
