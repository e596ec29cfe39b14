import type { BatchReply, Request } from '../engine/protocol.ts';
import { asCairnError } from '../errors/as-cairn-error.ts';
import type { CairnError } from '../errors/cairn-error.ts';
import { StorageError } from '../errors/storage-error.ts';
import { WorkerError } from '../errors/worker-error.ts';
import type { Channel, ChannelEvents, Started } from './channel.ts';
import { SessionMemory } from './session-memory.ts';

/** Starts a worker and opens the engine in it; `undefined` where no worker can be had. */
type Begin = (events: ChannelEvents) => Promise<Channel | undefined>;

/** Something that is sent when it is due. */
interface Turn {
  /** The request, or the first of several; none for what is not about a collection. */
  readonly request: Request | undefined;
  /** Whether it may hang. */
  readonly risky: boolean;
  readonly send: (channel: Channel) => Promise<unknown>;
  readonly resolve: (value: never) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * A channel that outlives a worker that hangs in a pattern, which nothing but ending the worker can stop.
 *
 * A risky request is only sent when every earlier one is answered and everything is saved, and nothing is
 * sent until it is answered: ending the worker then loses nothing but this request. Another worker takes its
 * place, opens the same collections, and what has waited goes on.
 *
 * Where data is in the memory of the worker, or could not be saved, ending it would lose that: there a worker
 * that hangs is lost, as one that is silent for another reason.
 */
export class RestartingChannel implements Channel {
  readonly #begin: Begin;
  readonly #events: ChannelEvents;
  readonly #session = new SessionMemory();
  /** `undefined` until the first worker runs, and while another is started. */
  #channel: Channel | undefined;
  #started: Started = 'file';
  /** Whether what is saved outlives the worker. */
  #lasting = false;
  #watching = false;
  readonly #waiting: Turn[] = [];
  readonly #sent = new Set<Turn>();
  /** The turn during which no other begins. */
  #alone: Turn | undefined;
  /** The request that the worker may be ended for. */
  #suspect: Request | undefined;

  private constructor(begin: Begin, events: ChannelEvents) {
    this.#begin = begin;
    this.#events = events;
  }

  /** @returns `undefined` where no worker can be had. */
  static async start(begin: Begin, events: ChannelEvents): Promise<Channel | undefined> {
    const channel = new RestartingChannel(begin, events);
    channel.#channel = await channel.#connect();
    return channel.#channel && channel;
  }

  get started(): Started {
    return this.#started;
  }

  execute(batch: readonly Request[]): Promise<BatchReply> {
    const [first] = batch as [Request];
    const risky = this.#lasting && first.risky === true;
    const send = risky
      ? (channel: Channel) => this.#sendRisky(channel, first)
      : (channel: Channel) => this.#send(channel, batch);
    return this.#enter(send, first, risky);
  }

  watch(on: boolean): Promise<void> {
    this.#watching = on;
    return this.#enter((channel) => channel.watch(on));
  }

  save(): Promise<void> {
    return this.#enter((channel) => channel.save());
  }

  async close(): Promise<void> {
    await this.#channel?.close();
  }

  async #connect(): Promise<Channel | undefined> {
    const channel = await this.#begin({
      event: (event) => {
        if (event.type === 'status') this.#lasting = event.detail.storage !== 'memory';
        this.#events.event(event);
      },
      state: this.#events.state,
      lost: (error) => this.#lose(error),
    });
    if (channel) this.#started = channel.started;
    return channel;
  }

  #enter<T>(send: (channel: Channel) => Promise<T>, request?: Request, risky = false): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ send, request, risky, resolve, reject });
      this.#advance();
    });
  }

  #advance(): void {
    while (this.#channel) {
      const at = this.#due();
      const [turn] = at < 0 ? [] : this.#waiting.splice(at, 1);
      if (!turn) return;
      if (turn.risky) this.#alone = turn;
      this.#go(turn, this.#channel);
    }
  }

  /** Which of those that wait is due, or -1. */
  #due(): number {
    const { staged } = this.#session;
    // An `insertMany` that has begun must not lose its first parts.
    const free = this.#sent.size === 0 && staged.size === 0;
    if (!this.#alone && (free || !this.#waiting[0]?.risky))
      return this.#waiting.length > 0 ? 0 : -1;
    // What others wait for must not wait behind them.
    return this.#waiting.findIndex(
      ({ request }) =>
        request?.urgent &&
        (request.op === 'abort' || staged.has((request as Request<'insertPart'>).call)),
    );
  }

  #go(turn: Turn, channel: Channel): void {
    this.#sent.add(turn);
    turn
      .send(channel)
      .then(turn.resolve as (value: unknown) => void, turn.reject)
      .finally(() => {
        // Not one that was given up with its worker.
        if (!this.#sent.delete(turn)) return;
        if (this.#alone === turn) this.#alone = undefined;
        this.#advance();
      });
  }

  async #send(channel: Channel, batch: readonly Request[]): Promise<BatchReply> {
    const answered = this.#session.note(batch);
    const reply = await channel.execute(batch);
    answered(reply);
    return reply;
  }

  async #sendRisky(channel: Channel, request: Request): Promise<BatchReply> {
    if (await this.#saved(channel)) this.#suspect = request;
    try {
      return await this.#send(channel, [request]);
    } finally {
      this.#suspect = undefined;
    }
  }

  /** Whether everything is in storage now. */
  async #saved(channel: Channel): Promise<boolean> {
    if (!this.#session.unsaved) return true;
    try {
      await channel.save();
    } catch {
      // The engine has reported it, and tries again later.
      return false;
    }
    this.#session.unsaved = false;
    return true;
  }

  #lose(cause: CairnError): void {
    const suspect = this.#suspect;
    if (!suspect || cause.code !== 'worker_unresponsive') {
      this.#events.lost(cause);
      return;
    }
    this.#suspect = undefined;
    this.#channel = undefined;
    const collection = this.#session.nameOf(suspect);
    const error = hungError(collection, cause);
    const given = [...this.#sent];
    this.#sent.clear();
    for (const { reject } of given) reject(error);
    this.#events.state('opening');
    this.#events.event({ type: 'error', detail: { collection, error } });
    this.#restart().catch((reason: unknown) => this.#events.lost(asCairnError(reason)));
  }

  async #restart(): Promise<void> {
    const channel = await this.#connect();
    if (!channel) {
      throw new WorkerError(
        'worker_start_failed',
        'No worker could be started in place of one that hung in a pattern. Connect again.',
      );
    }
    if (!this.#lasting) {
      await channel.close();
      throw new StorageError(
        'storage_unavailable',
        'IndexedDB could not be opened again after the worker was restarted. Connect again.',
      );
    }
    const { opened } = this.#session;
    // Where one cannot be opened, the calls to it say so.
    if (opened.size > 0) await channel.execute([...opened.values()]);
    if (this.#watching) await channel.watch(true);
    this.#session.unsaved = false;
    this.#channel = channel;
    this.#alone = undefined;
    this.#events.state('open');
    this.#advance();
  }
}

function hungError(place: string | undefined, cause: CairnError): WorkerError {
  return new WorkerError(
    'query_hung',
    'A pattern of this call did not come to an end, so the worker was restarted. Only this call failed. Make ' +
      'the pattern one that cannot backtrack without end: no repetition of a repetition, as in (a+)+.',
    { place, cause },
  );
}
