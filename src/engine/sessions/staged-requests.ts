import { type Coroutine, run } from '../../async/coroutine.ts';
import { isPromise } from '../../codec/kinds.ts';
import { TransactionError } from '../../errors/errors.ts';
import type { Request } from '../../protocol/requests.ts';
import type { Executor } from '../executor.ts';
import { type PartCode, parts } from '../parts.ts';

type Loaded = PartCode['transactions']['SessionTransactions'];

/** Executes the requests of a session's transactions, whose code loads with the first. */
export class StagedRequests implements Executor {
  readonly #given: ConstructorParameters<Loaded>;
  #transactions: InstanceType<Loaded> | undefined;
  #hasLeft = false;

  constructor(...given: ConstructorParameters<Loaded>) {
    this.#given = given;
  }

  execute(request: Request): unknown {
    const transactions = run(this.load());
    if (!isPromise(transactions)) return transactions.execute(request);
    return transactions.then((loaded) => {
      // Its client makes it again in another session.
      if (this.#hasLeft) throw new TransactionError('transaction_over', 'The client has left.');
      return loaded.execute(request);
    });
  }

  giveUp(): void {
    // A scan ends with its transaction.
  }

  /** Repeats a transaction that another engine has committed, unless it was saved. */
  reapply(request: Request<'commit'>): Promise<void> {
    const transactions = run(this.load());
    // At once where it can be: replayed changes enter the queues in their order.
    return isPromise(transactions)
      ? transactions.then((loaded) => loaded.reapply(request))
      : transactions.reapply(request);
  }

  endAll(): void {
    this.#hasLeft = true;
    // Behind the requests that wait for the code.
    const transactions = parts.isWanted('transactions') ? run(this.load()) : undefined;
    if (isPromise(transactions))
      transactions.then(
        (loaded) => loaded.endAll(),
        () => undefined,
      );
    else transactions?.endAll();
  }

  /** @throws {CairnError} `load_failed` */
  *load(): Coroutine<InstanceType<Loaded>> {
    const { SessionTransactions } = yield* parts.need('transactions');
    this.#transactions ??= new SessionTransactions(...this.#given);
    return this.#transactions;
  }
}
