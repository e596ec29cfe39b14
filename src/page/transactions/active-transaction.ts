import { nextTurn } from '../../async/next-turn.ts';
import { TransactionError } from '../../errors/errors.ts';
import { isEditing } from '../../protocol/operations.ts';
import {
  type CommitReply,
  DATABASE,
  type OperationName,
  type ReplyTo,
  type Request,
} from '../../protocol/requests.ts';
import type { ClientChannel } from '../connection/client-channel.ts';
import { asAcknowledged } from '../connection/replay.ts';
import type { HandleChannel } from '../sending/handle-channel.ts';
import type { HandleRequest, Sender } from '../sending/sender.ts';
import { notAwaited, over, type TransactionCall } from './transaction-errors.ts';

/** A call that has not ended. */
interface RunningCall extends TransactionCall {
  result: Promise<unknown> | undefined;
  /** Of the call alone. */
  signal: AbortSignal | undefined;
}

/** One run of a transaction's function. */
export class ActiveTransaction {
  readonly collections = new Set<string>();
  readonly #channel: ClientChannel;
  readonly #requests = new TransactionRequests();
  /** Calls that have not ended. */
  readonly #running = new Set<RunningCall>();
  #calls = 0;
  /** The engine that the first request was sent to, by its count: it has the snapshot. */
  #engine: number | undefined;
  /** Whether an engine may have the transaction. */
  #isOpen = false;
  #isOver = false;
  #conflict: TransactionError | undefined;

  constructor(channel: ClientChannel) {
    this.#channel = channel;
  }

  /** Why the function has to run again, whatever it returns. */
  get conflict(): TransactionError | undefined {
    return this.#conflict;
  }

  senderOver(handle: HandleChannel): Sender {
    return new TransactionSender(handle, (request) => this.#send(handle, request));
  }

  get calls(): number {
    return this.#calls;
  }

  begin(collection: string, method: string, first: unknown): RunningCall {
    this.#calls++;
    this.collections.add(collection);
    const call: RunningCall = { collection, method, first, result: undefined, signal: undefined };
    this.#running.add(call);
    return call;
  }

  ended(call: RunningCall): void {
    this.#running.delete(call);
  }

  get isBusy(): boolean {
    return this.#running.size > 0;
  }

  /**
   * Commits what is staged; later calls reject.
   *
   * @throws {TransactionError} `transaction_misused` while a call runs: what it changes may depend
   *   on its outcome.
   */
  async commit(): Promise<CommitReply> {
    // The function knows of the abort; the engine goes on with the call.
    const aborted = [...this.#running].filter(({ signal }) => signal?.aborted);
    if (aborted.length > 0) await Promise.allSettled(aborted.map(({ result }) => result));
    this.#isOver = true;
    const [unawaited] = this.#running;
    // This error stands for theirs.
    for (const { result } of this.#running) result?.catch(() => undefined);
    if (unawaited) throw notAwaited(unawaited);
    if (this.#conflict) return 'conflict';
    const commit = this.#requests.commit();
    // It has read one snapshot, so nothing has to be compared.
    if (commit.changes.length === 0) return 'committed';
    this.#isOpen = false;
    return (await this.#channel.requests.send(commit).catch(this.#refused)) as CommitReply;
  }

  /** Discards what is staged, unless it was committed; later calls reject. */
  end(): void {
    this.#isOver = true;
    if (!this.#isOpen) return;
    // A lost engine took the transaction along, but calls that were retried have begun it anew. If
    // the channel has ended, so has the session of the engine.
    this.#channel.requests.send(this.#requests.rollback()).catch(() => undefined);
  }

  #send<Name extends OperationName>(
    handle: HandleChannel,
    ask: HandleRequest<Name>,
  ): Promise<ReplyTo<Name>> {
    if (this.#isOver) return Promise.reject(over(false));
    const [request, replied] = this.#requests.next(handle.handle, ask);
    const taken = (reply: unknown) => {
      this.#compareEngine();
      replied(reply);
      return reply as ReplyTo<Name>;
    };
    const refused = (error: unknown) => {
      this.#compareEngine();
      return this.#refused(error);
    };
    return handle.order.enter(() => this.#sendNow(request)).then(taken, refused);
  }

  /** After the earlier calls of the collection. */
  #sendNow(request: Request): Promise<unknown> {
    if (this.#isOver) return Promise.reject(over(false));
    this.#isOpen = true;
    // Not by the first reply: an acknowledgement may wait until after a failover.
    this.#engine ??= this.#channel.engines;
    return this.#channel.requests.send(request);
  }

  readonly #refused = (error: unknown): never => {
    if (isConflict(error)) this.#conflict ??= error;
    throw error;
  };

  /**
   * An engine that was lost took along the snapshot and what was staged: replies of the next, also
   * errors, show another.
   */
  #compareEngine(): void {
    if (this.#engine === this.#channel.engines) return;
    this.#refused(
      new TransactionError('transaction_conflict', 'The leader of the database was replaced.'),
    );
  }
}

/** A class, as an object with a getter takes longer to make. */
class TransactionSender implements Sender {
  readonly isSync = false;
  readonly send: Sender['send'];
  readonly pause = nextTurn;
  readonly #handle: HandleChannel;

  constructor(handle: HandleChannel, send: Sender['send']) {
    this.#handle = handle;
    this.send = send;
  }

  get started(): Sender['started'] {
    return this.#handle.started;
  }
}

function isConflict(error: unknown): error is TransactionError {
  return (
    error instanceof TransactionError &&
    (error.code === 'transaction_conflict' || error.code === 'transaction_expired')
  );
}

/** The requests of one run of a transaction, and those of them that the commit carries. */
export class TransactionRequests {
  /** The number of the run in requests. */
  readonly #transaction = Math.random();
  /** In the order of the calls; `undefined` where nothing has changed, or there is no reply yet. */
  readonly #changes: (Request | undefined)[] = [];
  /** Whether a pattern may have to be compared again by the commit. */
  #mayHang: true | undefined;

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
