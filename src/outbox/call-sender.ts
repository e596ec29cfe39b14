import type { Clock } from '../async/clock.ts';
import { retryDelay } from '../async/retries.ts';
import { OptionError, reasonOf } from '../errors/errors.ts';
import type { DatabaseClient } from '../page/client/database-client.ts';
import type { DocumentCollection } from '../page/collections/document-collection.ts';
import { orAborted } from '../page/sending/call-arguments.ts';
import type { Transaction } from '../page/transactions/transaction-types.ts';
import { checkAnswer, OutboxError, type OutboxErrorCode } from './outbox-error.ts';

/** What `send` gets beside the input. */
export interface SendContext {
  /** The idempotency key: the same for each attempt of this call, and for no other call. */
  readonly key: string;
  /** Aborts when the attempt takes too long, or another page sends from now on. */
  readonly signal: AbortSignal;
}

/** A call to a server, and what it changes here. */
export interface OutboxAction<Input = unknown> {
  /** Changes the database at once, in one transaction with the call itself. May run again. */
  local?(tx: Transaction, input: Input): unknown;
  /**
   * Calls the server. A `Response` decides by its status; any other result is success. What it
   * throws is tried again, but an {@link OutboxError} `call_refused`.
   */
  send(input: Input, context: SendContext): unknown;
  /** Undoes what `local` did, as the server refused the call. May run again. */
  refused?(tx: Transaction, input: Input, error: OutboxError): unknown;
  /**
   * Calls of a lane are sent one after the other, lanes side by side; a function names the lane by
   * the input. @default '', one lane for all
   */
  lane?: string | ((input: Input) => string);
}

/** A call that waits for the server. Its `_id` is the idempotency key. */
export interface PendingCall {
  readonly action: string;
  readonly input?: unknown;
  readonly lane: string;
  /**
   * `waiting` for the server; `undo_failed`: the server refused it, and `refused` threw; `refused`
   * and undone, which only `sent` of other pages still has to hear.
   */
  readonly state: 'waiting' | 'undo_failed' | 'refused';
  readonly at: Date;
  /** Attempts that have failed. */
  readonly attempts: number;
  /** Why the last attempt failed. */
  readonly error?: CallFailure;
  /** Why the server refused it, or that it was discarded. */
  readonly refusal?: CallFailure;
  /** How often `retry()` asked to try at once. */
  readonly asked: number;
}

/** An error as it is stored. */
export interface CallFailure {
  /** Of an {@link OutboxError}. */
  readonly code?: OutboxErrorCode;
  readonly message: string;
  readonly status?: number;
  readonly answer?: string;
}

export type StoredCall = PendingCall & { readonly _id: string };

export interface CallEvents {
  sent: { readonly id: string; readonly action: string };
  refused: CallEvent & { readonly error: OutboxError };
  undo_failed: CallEvent & { readonly error: unknown };
  unknown: CallEvent;
}

interface CallEvent {
  readonly id: string;
  readonly action: string;
  readonly input: unknown;
}

/** What a sender works with. */
export interface CallSenderContext {
  readonly db: DatabaseClient;
  readonly calls: DocumentCollection<PendingCall>;
  readonly actions: Readonly<Record<string, OutboxAction>>;
  readonly clock: Clock;
  readonly random: () => number;
  /** Milliseconds for one attempt. */
  readonly timeout: number;
  emit<Name extends keyof CallEvents>(name: Name, event: CallEvents[Name]): void;
  /** The state has changed. */
  changed(): void;
}

interface Lane {
  isBusy: boolean;
  /** The call that has failed, as it was then, and when it is due, by the clock's `elapsed`. */
  failed?: { readonly row: StoredCall; dueAt: number } | undefined;
}

/** A call that is not there is looked for again after so long: another page may bring it back. */
const LOOK_MS = 1000;
/** Attempts at the same time. */
const MOST_AT_ONCE = 6;

/** Sends the calls of all pages, in the page that leads: in order by lane. */
export class CallSender {
  /** The error of the last attempt, until one succeeds. */
  error: Error | undefined;
  /** When the next attempt is due, in Unix milliseconds. */
  retryAt: number | undefined;
  #underWay = 0;
  readonly #context: CallSenderContext;
  #term: AbortController | undefined;
  #rows: readonly StoredCall[] = [];
  readonly #lanes = new Map<string, Lane>();
  /** Calls that are through, and that the list may still show. */
  #done = new Set<string>();
  /** Calls without an action that this term has told. */
  readonly #unknown = new Set<string>();
  /** By call: the request to try at once that the last attempt to undo it knew. */
  readonly #undos = new Map<string, number>();
  /** The server wants to hear nothing before then. */
  #pausedUntil = 0;
  #cancelTimer: (() => void) | undefined;

  constructor(context: CallSenderContext) {
    this.#context = context;
  }

  get leads(): boolean {
    return this.#term !== undefined;
  }

  get isSending(): boolean {
    return this.#underWay > 0;
  }

  /** This page sends from now on. */
  lead(): void {
    if (this.#term) return;
    this.#term = new AbortController();
    this.#lanes.clear();
    this.#unknown.clear();
    this.#undos.clear();
    this.wake();
  }

  /** Another page sends from now on, or none: what is under way is aborted, and stays stored. */
  resign(why: OutboxError): void {
    this.#term?.abort(why);
    this.#term = undefined;
    this.#cancelTimer?.();
    this.retryAt = undefined;
    this.#context.changed();
  }

  /** Takes the calls that are stored, in their order. */
  take(rows: readonly StoredCall[]): void {
    this.#rows = rows;
    if (this.#done.size > 0)
      this.#done = new Set(rows.flatMap(({ _id }) => (this.#done.has(_id) ? _id : [])));
    this.wake();
  }

  /** Calls that were through may be there again: all was replaced by a backup or a file. */
  replaced(): void {
    this.#done = new Set();
    this.wake();
  }

  /** Tries again at once what waits for a retry, unless the server named a time. */
  hurry(): void {
    for (const lane of this.#lanes.values()) lane.failed = undefined;
    this.wake();
  }

  /** Begins what is due: the first call of each lane. */
  wake(): void {
    const { signal } = this.#term ?? {};
    if (!signal) return;
    const { clock, actions } = this.#context;
    const now = clock.elapsed();
    const seen = new Set<string>();
    let next = Number.POSITIVE_INFINITY;
    for (const row of this.#rows) {
      if (row.state === 'undo_failed') this.#undo(row, signal);
      if (row.state !== 'waiting' || seen.has(row.lane) || this.#done.has(row._id)) continue;
      seen.add(row.lane);
      const lane = this.#laneOf(row.lane);
      if (lane.isBusy) continue;
      if (!Object.hasOwn(actions, row.action)) this.#tellUnknown(row);
      else {
        const due = Math.max(dueAt(row, lane), this.#pausedUntil);
        if (due > now) next = Math.min(next, due);
        else if (this.#underWay < MOST_AT_ONCE) void this.#send(row, lane, signal);
      }
    }
    this.#cancelTimer?.();
    const wait = next - now;
    this.retryAt = wait < Number.POSITIVE_INFINITY ? clock.now() + wait : undefined;
    if (this.retryAt) this.#cancelTimer = clock.after(wait, () => this.wake(), true);
    this.#context.changed();
  }

  #laneOf(name: string): Lane {
    let lane = this.#lanes.get(name);
    if (!lane) {
      lane = { isBusy: false };
      this.#lanes.set(name, lane);
    }
    return lane;
  }

  /** Never rejects. */
  async #send(row: StoredCall, lane: Lane, signal: AbortSignal): Promise<void> {
    lane.isBusy = true;
    this.#underWay++;
    try {
      if (await this.#attempt(row, signal)) this.#done.add(row._id);
      else lane.failed = { row, dueAt: this.#context.clock.elapsed() + LOOK_MS };
      this.error = undefined;
    } catch (error) {
      if (!signal.aborted) await this.#failed(row, lane, error);
    }
    lane.isBusy = false;
    this.#underWay--;
    this.wake();
  }

  /** @returns whether it is through; else it is not there, or not any more. */
  async #attempt({ _id: id, action }: StoredCall, signal: AbortSignal): Promise<boolean> {
    const { calls, emit } = this.#context;
    // A crash must not leave something on the server that this device has not.
    await calls.save();
    // Afterwards: where the engine was replaced meanwhile, a call that was not acknowledged may be
    // stored anew, with another key.
    const call = await calls.get(id);
    signal.throwIfAborted();
    // Another page was quicker, or somebody has discarded it. Or it was not saved when the engine
    // was lost, and its page, which was frozen, stores it anew as soon as it runs.
    if (call?.state !== 'waiting') return false;
    try {
      await this.#call(call, signal);
    } catch (error) {
      if ((error as Partial<OutboxError> | undefined)?.code !== 'call_refused') throw error;
      await this.#refuse(call, error as OutboxError);
      return true;
    }
    await calls.delete(id);
    emit('sent', { id, action });
    return true;
  }

  /** Calls the server. */
  async #call({ _id: key, action, input }: StoredCall, term: AbortSignal): Promise<void> {
    const { actions, clock, timeout } = this.#context;
    const attempt = new AbortController();
    const { signal } = attempt;
    const end = () => attempt.abort(term.reason);
    term.addEventListener('abort', end);
    const cancel = clock.after(
      timeout,
      () => {
        const message = `send of "${action}" did not settle within ${timeout} ms.`;
        attempt.abort(new OutboxError('call_timeout', message, { place: action }));
      },
      true,
    );
    const run = async () =>
      checkAnswer(await actions[action]?.send(input, { key, signal }), action, clock.now());
    try {
      await orAborted(run(), signal);
    } finally {
      cancel();
      term.removeEventListener('abort', end);
    }
  }

  async #failed(row: StoredCall, lane: Lane, error: unknown): Promise<void> {
    const { calls, clock, random } = this.#context;
    this.error = asError(error, row.action);
    const attempts = row.attempts + 1;
    const { retry_after: pause } = (error ?? {}) as { retry_after?: unknown };
    lane.failed = { row, dueAt: clock.elapsed() + retryDelay(attempts, random) };
    if (typeof pause === 'number') this.#pausedUntil = clock.elapsed() + pause;
    // Shown in all pages; where it cannot be stored, the call is tried again all the same.
    await calls.patch(row._id, { attempts, error: failureOf(error) }).catch(() => undefined);
  }

  /** Undoes a call that the server refused; one that cannot be undone stays, and is told. */
  async #refuse(call: StoredCall, error: OutboxError): Promise<void> {
    const { calls, emit } = this.#context;
    const { _id: id, action, input } = call;
    try {
      if (await this.undo(call, error)) emit('refused', { id, action, input, error });
    } catch (cause) {
      const kept = { state: 'undo_failed', refusal: failureOf(error) } as const;
      this.#undos.set(id, call.asked);
      await calls.patch(id, kept);
      emit('undo_failed', { id, action, input, error: cause });
    }
  }

  /**
   * Undoes a call, and marks it as refused.
   *
   * @returns whether it was there still.
   */
  undo({ _id: id, action, input }: StoredCall, error: OutboxError): Promise<boolean> {
    const { db, calls, actions, clock } = this.#context;
    return db.transaction(async (tx) => {
      const call = await tx(calls).get(id);
      if (!call || call.state === 'refused') return false;
      await actions[action]?.refused?.(tx, input, error);
      const { lane, attempts, asked } = call;
      await tx(calls).update(id, {
        ...{ action, lane, attempts, asked },
        ...{ state: 'refused', at: new Date(clock.now()), refusal: failureOf(error) },
      });
      return true;
    });
  }

  /** Tries once in each term, and when somebody asks for it, to undo what could not be undone. */
  #undo(row: StoredCall, signal: AbortSignal): void {
    if (this.#undos.get(row._id) === row.asked) return;
    this.#undos.set(row._id, row.asked);
    const undo = async () => {
      const call = await this.#context.calls.get(row._id);
      if (!signal.aborted && call?.state === 'undo_failed')
        await this.#refuse(call, storedRefusal(call));
    };
    // Where the database fails, the next term tries again.
    undo().catch(() => undefined);
  }

  #tellUnknown({ _id: id, action }: StoredCall): void {
    if (this.#unknown.has(id)) return;
    this.#unknown.add(id);
    const { calls, emit } = this.#context;
    calls.get(id).then(
      (call) => call && emit('unknown', { id, action, input: call.input }),
      () => this.#unknown.delete(id),
    );
  }
}

/** When a call may be sent: one that has failed waits, unless somebody asks for it. */
function dueAt({ _id, asked }: StoredCall, { failed }: Lane): number {
  return failed?.row._id === _id && failed.row.asked === asked ? failed.dueAt : 0;
}

function failureOf(error: unknown): CallFailure {
  const { status, answer } = (error ?? {}) as Partial<OutboxError>;
  return {
    ...(error instanceof OutboxError && { code: error.code }),
    message: reasonOf(error),
    ...(typeof status === 'number' && { status }),
    ...(typeof answer === 'string' && { answer }),
  };
}

export function storedRefusal({ action, refusal }: PendingCall): OutboxError {
  const { code = 'call_refused', message = 'Refused.', ...details } = refusal ?? {};
  return new OutboxError(code, message, { place: action, ...details });
}

function asError(error: unknown, place: string): Error {
  if (error instanceof Error) return error;
  return new OutboxError('call_failed', reasonOf(error), { place, cause: error });
}

/** The lane of a call. @throws {OptionError} */
export function laneOf({ lane = '' }: OutboxAction, input: unknown, action: string): string {
  const name: unknown = typeof lane === 'function' ? lane(input) : lane;
  if (typeof name === 'string') return name;
  throw new OptionError('option_invalid', `lane of "${action}" must return a string.`, {
    place: action,
  });
}
