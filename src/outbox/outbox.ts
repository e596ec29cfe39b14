import type { LiveSnapshot } from '../api/live-options.ts';
import { type Clock, systemClock } from '../async/clock.ts';
import { Emitter } from '../async/emitter.ts';
import { Mutex } from '../async/mutex.ts';
import { copy } from '../codec/capture.ts';
import { type CairnError, OptionError } from '../errors/errors.ts';
import type { DatabaseClient } from '../page/client/database-client.ts';
import type { DocumentCollection } from '../page/collections/document-collection.ts';
import type { LiveQuery } from '../page/live/live-query.ts';
import {
  type CallEvents,
  CallSender,
  laneOf,
  type OutboxAction,
  type PendingCall,
  type StoredCall,
  storedRefusal,
} from './call-sender.ts';
import { OutboxError } from './outbox-error.ts';

/** A call that is stored. */
export interface QueuedCall {
  /** Its idempotency key. */
  readonly id: string;
  /**
   * Resolves once the server has taken the call, in whichever page it was sent. Rejects with an
   * {@link OutboxError}: `call_refused`, `call_discarded`, or `outbox_stopped` where this page no
   * longer hears of it.
   */
  readonly sent: Promise<void>;
}

/** The actions of an outbox, as functions. */
export type ActionCalls<Inputs extends object> = {
  readonly [Name in keyof Inputs]: undefined extends Inputs[Name]
    ? (input?: Inputs[Name]) => Promise<QueuedCall>
    : (input: Inputs[Name]) => Promise<QueuedCall>;
};

/** The calls that are not through. */
export interface PendingCalls {
  /** A live query of them, in the order of their calls. */
  live(): LiveQuery<readonly StoredCall[]>;
  /**
   * Removes a call, and undoes it by `refused`, with the code `call_discarded`; one that could not
   * be undone, or has no action, is removed alone. A call that is being sent may reach the server
   * all the same.
   *
   * @returns whether it was there.
   * @throws what `refused` throws; nothing is changed then.
   */
  discard(id: string): Promise<boolean>;
}

/** Where an outbox stands. */
export interface OutboxStatus {
  /**
   * `sending`; `waiting` for `retry_at`, or for an action that this app lacks; `elsewhere`: another
   * page sends, also until the database is open.
   */
  readonly state: 'idle' | 'sending' | 'waiting' | 'elsewhere' | 'stopped';
  /** Calls that wait for the server, of all pages. */
  readonly pending: number;
  /** Calls that the server refused, and that could not be undone. */
  readonly undo_failed: number;
  /** When the next attempt is due, in the page that sends. */
  readonly retry_at: Date | undefined;
  /** The failure of the last attempt of this page, until one succeeds. */
  readonly error: Error | undefined;
}

/** The events of an outbox. Those about calls come in the page that sends. */
export interface OutboxEvents extends CallEvents {
  status: OutboxStatus;
}

/** Options with their defaults. */
export interface OutboxSettings {
  readonly collection: string;
  readonly timeout: number;
  readonly sync_tag: string | undefined;
}

/** What an outbox notices of the world, passed in so that tests can drive it. */
export interface OutboxEnvironment {
  readonly clock: Clock;
  readonly random: () => number;
  /** Calls back when the network may be back, or the page is shown. @returns ends that. */
  onReturn(call: () => void): () => void;
}

export const outboxEnvironment: OutboxEnvironment = {
  clock: systemClock,
  random: Math.random,
  onReturn(call) {
    const { document, addEventListener, removeEventListener } = globalThis;
    const shown = () => {
      if (document.visibilityState === 'visible') call();
    };
    addEventListener?.('online', call);
    document?.addEventListener('visibilitychange', shown);
    return () => {
      removeEventListener?.('online', call);
      document?.removeEventListener('visibilitychange', shown);
    };
  },
};

/** The event `sync` of a service worker. */
interface SyncEvent {
  readonly tag: string;
  waitUntil(work: Promise<unknown>): void;
}

/** A page that does not send asks the engine so often: a leader that is frozen is replaced. */
const HEARTBEAT_MS = 15_000;
/** What has failed here, such as a live query, begins anew after so long. */
const ANEW_MS = 1000;
/** Pages that sleep for longer miss that a call of theirs was refused. */
const REMEMBERED_MS = 7 * 24 * 3_600_000;

interface Waiting {
  resolve(): void;
  reject(error: OutboxError): void;
}

/** Calls to a server that wait for it. Made by `outbox()`. */
export class Outbox<Inputs extends object> {
  /** A function for each action: applies `local`, and stores the call. */
  readonly actions: ActionCalls<Inputs>;
  readonly #db: DatabaseClient;
  readonly #actions: Readonly<Record<string, OutboxAction>>;
  readonly #settings: OutboxSettings;
  readonly #environment: OutboxEnvironment;
  readonly #emitter = new Emitter<OutboxEvents>([
    ...(['status', 'sent', 'refused', 'undo_failed', 'unknown'] as const),
  ]);
  readonly #calls: DocumentCollection<PendingCall>;
  readonly #sender: CallSender;
  /** Calls of this page enter the outbox in the order in which they are made. */
  readonly #order = new Mutex();
  readonly #waiting = new Map<string, Waiting>();
  readonly #replaced = new Set<string>();
  readonly #ends: (() => void)[] = [];
  #endList: (() => void) | undefined;
  #cancelTimer: (() => void) | undefined;
  #rows: readonly StoredCall[] | undefined;
  #shown = '';
  #isStopped = false;

  /** @internal */
  constructor(
    db: DatabaseClient,
    actions: Readonly<Record<string, OutboxAction>>,
    settings: OutboxSettings,
    environment: OutboxEnvironment,
  ) {
    this.#db = db;
    this.#actions = actions;
    this.#settings = settings;
    this.#environment = environment;
    this.#calls = new db.Collection<PendingCall>({
      name: settings.collection,
      type: 'DOCUMENT_BASED',
    });
    this.#sender = new CallSender({
      ...{ db, actions, calls: this.#calls, timeout: settings.timeout },
      ...environment,
      emit: (name, event) => this.#tell(name, event),
      changed: () => this.#show(),
    });
    this.actions = Object.fromEntries(
      Object.keys(actions).map((name) => [name, (input: unknown) => this.#add(name, input)]),
    ) as unknown as ActionCalls<Inputs>;
    this.#ends.push(
      db.on('status', () => this.#look()),
      this.#calls.on('restore', () => this.#replace()),
      environment.onReturn(() => this.#sender.hurry()),
    );
    // A server that renders pages has nothing to send, and starts no engine.
    if ((db as { opensEarly?: boolean }).opensEarly !== false) this.#start();
    else this.#look();
  }

  get status(): OutboxStatus {
    const { error, retryAt, isSending, leads } = this.#sender;
    const count = (state: string) => this.#rows?.filter((row) => row.state === state).length ?? 0;
    const pending = count('waiting');
    const busy = isSending ? 'sending' : pending > 0 ? 'waiting' : 'idle';
    return Object.freeze({
      state: this.#isStopped ? 'stopped' : leads ? busy : 'elsewhere',
      ...{ pending, undo_failed: count('undo_failed') },
      retry_at: retryAt === undefined ? undefined : new Date(retryAt),
      error,
    });
  }

  /** The calls that are not through. */
  get pending(): PendingCalls {
    return {
      live: () => this.#calls.live({ state: { $ne: 'refused' } }) as never,
      discard: (id) => this.#discard(id),
    };
  }

  /** Listens to an event. @returns a function that removes the listener. */
  on<Name extends keyof OutboxEvents>(
    name: Name,
    listener: (event: OutboxEvents[Name]) => void,
  ): () => void {
    return this.#emitter.on(name, listener);
  }

  /**
   * Tries at once what waits for a retry, in whichever page sends, and what could not be undone.
   * Call it after a login.
   */
  async retry(): Promise<void> {
    this.#start();
    await this.#calls.patchMany({}, { $inc: { asked: 1 } });
  }

  /**
   * Tries at once, and resolves when the server has all calls.
   *
   * @param options `timeout` in milliseconds, by default 60,000.
   * @throws {OutboxError} `call_failed` once an attempt fails; `flush_timeout`; `outbox_stopped`.
   */
  async flush({ timeout = 60_000 }: { readonly timeout?: number | undefined } = {}): Promise<void> {
    this.#start();
    const began = await this.#calls.filter({ state: 'waiting' }, { select: ['attempts'] });
    const attempts = new Map(began.map((call) => [call._id, call.attempts]));
    await this.retry();
    // Not the list, which may be older than the last calls.
    const select = ['action', 'attempts', 'error'] as const;
    const list = this.#calls.live({ state: 'waiting' }, { select });
    const ends: (() => void)[] = [];
    const flushed = new Promise<void>((resolve, reject) => {
      if (this.#isStopped) reject(stopped());
      const look = ({ data, error }: LiveSnapshot<readonly unknown[]>) => {
        if (error) reject(error);
        const waiting = data as readonly StoredCall[] | undefined;
        if (waiting?.length === 0) resolve();
        const failed = waiting?.find((row) => row.attempts > (attempts.get(row._id) ?? 0));
        if (failed)
          reject(
            new OutboxError('call_failed', `Not sent: ${failed.error?.message}`, {
              place: failed.action,
            }),
          );
      };
      const late = () =>
        reject(new OutboxError('flush_timeout', `Not everything was sent within ${timeout} ms.`));
      ends.push(
        this.#environment.clock.after(timeout, late),
        this.on('status', () => this.#isStopped && reject(stopped())),
        list.subscribe(look),
      );
    });
    await flushed.finally(() => {
      for (const end of ends) end();
    });
  }

  /**
   * The listener of a service worker: `addEventListener('sync', box.onSync)`. Sends all calls where
   * the tag is `sync_tag`; if that fails, the browser tries again later.
   */
  readonly onSync = (event: SyncEvent): void => {
    if (event.tag === this.#settings.sync_tag) event.waitUntil(this.flush());
  };

  /** Ends the outbox in this page. Calls stay stored, and other pages send them. */
  stop(): void {
    if (this.#isStopped) return;
    this.#isStopped = true;
    this.#sender.resign(stopped());
    this.#endList?.();
    this.#cancelTimer?.();
    for (const end of this.#ends) end();
    for (const { reject } of this.#waiting.values()) reject(stopped());
    this.#waiting.clear();
    this.#show();
  }

  get isStopped(): boolean {
    return this.#isStopped;
  }

  async #add(action: string, given: unknown): Promise<QueuedCall> {
    if (this.#isStopped) throw stopped();
    this.#start();
    const definition = this.#actions[action] as OutboxAction;
    const input = copy(given);
    const lane = laneOf(definition, input, action);
    const id = await this.#order.run(async () => {
      let stored: string | undefined;
      try {
        await this.#db.transaction(async (tx) => {
          const at = new Date(this.#environment.clock.now());
          const call = { ...{ action, input, lane, at }, state: 'waiting' as const };
          const { _id } = await tx(this.#calls).insert({ ...call, attempts: 0, asked: 0 });
          await definition.local?.(tx, copy(input));
          stored = _id;
        });
      } catch (error) {
        // The leader ended after it had made the change.
        if ((error as CairnError).code !== 'answer_lost' || !stored) throw error;
      }
      return stored as string;
    });
    const sent = new Promise<void>((resolve, reject) => {
      if (this.#isStopped) reject(stopped());
      else this.#waiting.set(id, { resolve, reject });
    });
    // Not awaited by most: the call itself has succeeded.
    sent.catch(() => undefined);
    this.#settle(id);
    this.#requestSync();
    return { id, sent };
  }

  /** The browser wakes the service worker when the network is back. */
  #requestSync(): void {
    const { sync_tag: tag } = this.#settings;
    const worker = tag === undefined ? undefined : globalThis.navigator?.serviceWorker;
    interface SyncManager {
      register(tag: string): Promise<void>;
    }
    worker?.ready
      .then((registration) =>
        (registration as { sync?: SyncManager }).sync?.register(tag as string),
      )
      // Without it, a page sends.
      .catch(() => undefined);
  }

  /** Reads the calls, from the first moment on that something may be there to send. */
  #start(): void {
    if (this.#isStopped || this.#endList) return;
    // All but the input, which may be large.
    const select = ['action', 'lane', 'state', 'attempts', 'asked', 'error'] as const;
    const list = this.#calls.live({ state: { $ne: 'refused' } }, { select });
    this.#endList = list.subscribe(({ status, data, error }) => {
      if (status === 'ready') this.#take(data as readonly unknown[] as readonly StoredCall[]);
      else if (error) this.#lost(error);
    });
    this.#beat();
    this.#look();
  }

  #lost(error: Error): void {
    this.#endList?.();
    this.#cancelTimer?.();
    if (/_(dropped|renamed)$/.test((error as CairnError).code)) return void this.stop();
    this.#cancelTimer = this.#environment.clock.after(
      ANEW_MS,
      () => {
        this.#endList = undefined;
        this.#start();
      },
      true,
    );
  }

  #take(rows: readonly StoredCall[]): void {
    this.#rows = rows;
    const ids = new Set(rows.flatMap(({ _id, state }) => (state === 'waiting' ? _id : [])));
    for (const id of this.#waiting.keys()) if (!ids.has(id)) this.#settle(id);
    this.#sender.take(rows);
  }

  /** Asks for a call of this page that the list does not show: it is through, or still to come. */
  #settle(id: string): void {
    this.#calls.get(id).then(
      (call) => {
        const isReplaced = this.#replaced.delete(id);
        if (call?.state === 'waiting') return;
        const waiting = this.#waiting.get(id);
        this.#waiting.delete(id);
        if (call) waiting?.reject(storedRefusal(call));
        else if (isReplaced) waiting?.reject(discarded(id));
        else waiting?.resolve();
      },
      () =>
        this.#environment.clock.after(
          ANEW_MS,
          () => {
            if (this.#waiting.has(id)) this.#settle(id);
          },
          true,
        ),
    );
  }

  /** What a backup may have removed was not sent. */
  #replace(): void {
    this.#sender.replaced();
    for (const id of this.#waiting.keys()) {
      this.#replaced.add(id);
      this.#settle(id);
    }
  }

  #tell<Name extends keyof CallEvents>(name: Name, event: CallEvents[Name]): void {
    const waiting = this.#waiting.get(event.id);
    if (name === 'sent' || name === 'refused') this.#waiting.delete(event.id);
    if (name === 'sent') waiting?.resolve();
    if (name === 'refused') waiting?.reject((event as CallEvents['refused']).error);
    // The stored call says why it was refused.
    if (name === 'undo_failed') this.#settle(event.id);
    this.#emitter.emit(name, event as OutboxEvents[Name]);
  }

  async #discard(id: string): Promise<boolean> {
    const call = await this.#calls.get(id);
    if (!call || call.state === 'refused') return false;
    const error = discarded(id);
    const isThere =
      call.state === 'waiting'
        ? await this.#sender.undo(call, error)
        : await this.#calls.delete(id);
    this.#waiting.get(id)?.reject(error);
    this.#waiting.delete(id);
    return isThere;
  }

  /** Sends while this page leads. */
  #look(): void {
    const { state, leader } = this.#db.status;
    if (state === 'closed' || state === 'failed') this.stop();
    if (this.#isStopped) return;
    if (state === 'open') this.#start();
    if (!leader) {
      if (this.#sender.leads) this.#sender.resign(stopped());
    } else if (!this.#sender.leads) {
      this.#sender.lead();
      this.#forget();
    }
    this.#show();
  }

  /** Removes the marks of refused calls that no page waits for. */
  #forget(): void {
    const before = new Date(this.#environment.clock.now() - REMEMBERED_MS);
    this.#calls.deleteMany({ state: 'refused', at: { $lt: before } }).catch(() => undefined);
  }

  #beat(): void {
    this.#cancelTimer = this.#environment.clock.after(
      HEARTBEAT_MS,
      () => {
        if (this.status.pending > 0 && !this.#sender.leads)
          this.#calls.count().catch(() => undefined);
        this.#beat();
      },
      true,
    );
  }

  #show(): void {
    const { status } = this;
    // Dates are compared as JSON; errors have no fields there.
    const shown = JSON.stringify([status, status.error?.message]);
    if (shown === this.#shown) return;
    this.#shown = shown;
    this.#emitter.emit('status', status);
  }
}

const discarded = (place: string) =>
  new OutboxError('call_discarded', 'discard() or a backup has removed the call.', { place });

function stopped(): OutboxError {
  return new OutboxError(
    'outbox_stopped',
    'The outbox has ended in this page; what it has stored is sent by the next one.',
  );
}

/** @throws {OptionError} */
export function checkActions(actions: unknown): Readonly<Record<string, OutboxAction>> {
  for (const [place, action] of Object.entries((actions ?? {}) as Record<string, unknown>)) {
    const { send, local, refused, lane } = (action ?? {}) as Partial<OutboxAction>;
    const isFine =
      typeof send === 'function' &&
      [local, refused].every((one) => one === undefined || typeof one === 'function') &&
      [undefined, 'string', 'function'].includes(lane === undefined ? lane : typeof lane);
    if (isFine) continue;
    throw new OptionError(
      'option_invalid',
      `Action "${place}" must have a function send, and may have functions local and refused, and a lane.`,
      { place },
    );
  }
  return { ...(actions as Record<string, OutboxAction>) };
}
