import { type Coroutine, run } from '../../async/coroutine.ts';
import { isPromise } from '../../codec/kinds.ts';
import { TransactionError } from '../../errors/errors.ts';
import type { Request } from '../../protocol/requests.ts';
import type { Executor } from '../executor.ts';
import { type PartCode, parts } from '../parts.ts';
import type { ReplayOrder } from '../replay-order.ts';

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
    // The code has not come: nothing has begun, and a load of its own would fail the next call.
    if (request.op === 'rollback' && !parts.isWanted('transactions')) return undefined;
    return this.#use((transactions) => {
      // Its client makes it again in another session.
      if (this.#hasLeft) throw new TransactionError('transaction_over', 'The client has left.');
      return transactions.execute(request);
    });
  }

  giveUp(): void {
    // A scan ends with its transaction.
  }

  /** Repeats a transaction that another engine has committed, unless it was saved. */
  async reapply(request: Request<'commit'>, order: ReplayOrder): Promise<void> {
    await this.#use((transactions) => transactions.reapply(request, order));
  }

  endAll(): void {
    this.#hasLeft = true;
    if (!parts.isWanted('transactions')) return;
    // Behind the requests that wait for the code; without it nothing has begun.
    const ended = this.#use((transactions) => transactions.endAll());
    if (isPromise(ended)) ended.catch(() => undefined);
  }

  /** At once where the code is there: replayed changes enter the queues in their order. */
  #use<T>(use: (transactions: InstanceType<Loaded>) => T): T | Promise<T> {
    return run(this.#using(use));
  }

  *#using<T>(use: (transactions: InstanceType<Loaded>) => T): Coroutine<T> {
    return use(yield* this.load());
  }

  /** @throws {CairnError} `load_failed` */
  *load(): Coroutine<InstanceType<Loaded>> {
    const { SessionTransactions } = yield* parts.need('transactions');
    this.#transactions ??= new SessionTransactions(...this.#given);
    return this.#transactions;
  }
}
