import type { BatchReply, EngineStatus, Request } from '../../src/engine/protocol.ts';
import { CairnError } from '../../src/errors/cairn-error.ts';
import { StorageError } from '../../src/errors/storage-error.ts';
import { WorkerError } from '../../src/errors/worker-error.ts';
import type { Channel, ChannelEvents } from '../../src/transport/channel.ts';

/** Keys of what `insert` put there; the bodies of a whole `insertMany` as one. */
type Contents = readonly string[];

/** Engines that come one after the other to the same storage, as workers do that are ended. */
export class HangingEngines {
  /** What is in storage. */
  stored: Contents = [];
  /** What an engine was asked that it never should be. */
  readonly violations: string[] = [];
  readonly channels: HangingChannel[] = [];
  storage = 'indexeddb';
  failSaves = false;
  /** How many more may be started. */
  left = Number.POSITIVE_INFINITY;
  /** Turns of the event loop until an answer, or until a silent engine is given up. */
  delay: () => number = () => 1;

  readonly begin = async (events: ChannelEvents): Promise<Channel | undefined> => {
    await this.wait();
    if (this.left-- <= 0) return undefined;
    const channel = new HangingChannel(this, events);
    this.channels.push(channel);
    const status = { storage: this.storage, unsaved: 0 } as EngineStatus;
    events.event({ type: 'status', detail: status });
    return channel;
  };

  async wait(): Promise<void> {
    for (let left = this.delay(); left > 0; left--) {
      await new Promise((resolve) => setImmediate(resolve));
    }
  }
}

/** An engine that keeps strings, and hangs in `count` with `criteria: { hang: true }`. */
export class HangingChannel implements Channel {
  readonly started = 'file';
  readonly asked: Request[] = [];
  watching = false;
  closed = false;
  readonly #engines: HangingEngines;
  readonly #events: ChannelEvents;
  readonly #open = new Set<number>();
  readonly #parts = new Map<number, string[]>();
  #contents: Contents;
  #hung = false;
  #answering = 0;
  #saveFailed = false;
  #saved = Promise.resolve();

  constructor(engines: HangingEngines, events: ChannelEvents) {
    this.#engines = engines;
    this.#events = events;
    this.#contents = engines.stored;
  }

  execute(batch: readonly Request[]): Promise<BatchReply> {
    const values: unknown[] = [];
    const failures = new Map<number, unknown>();
    batch.forEach((request, index) => {
      this.asked.push(request);
      if (this.#hung) return;
      try {
        values[index] = this.#perform(request, batch);
      } catch (error) {
        failures.set(index, error);
      }
    });
    // An abort may be beside anything: it is lost with what it is about.
    return this.#answer(() => ({ values, failures }), batch[0]?.op === 'abort' ? 0 : 1);
  }

  async watch(on: boolean): Promise<void> {
    await this.#answer(() => undefined);
    this.watching = on;
  }

  save(): Promise<void> {
    if (!this.#hung && !this.#engines.failSaves) this.#engines.stored = this.#contents;
    this.#saveFailed = this.#engines.failSaves;
    const saved = this.#answer(() => {
      if (this.#engines.failSaves) throw new StorageError('storage_full', 'No room.');
    });
    // Saves end in their order.
    this.#saved = Promise.allSettled([this.#saved, saved]).then(() => saved);
    return this.#saved;
  }

  async close(): Promise<void> {
    this.closed = true;
  }

  fail(error: CairnError): void {
    this.#hung = true;
    this.#events.lost(error);
  }

  async #answer<T>(make: () => T, weight = 1): Promise<T> {
    this.#answering += weight;
    await this.#engines.wait();
    // Who does not answer has not ended either.
    if (this.#hung) return new Promise(() => undefined);
    this.#answering -= weight;
    return make();
  }

  #perform(request: Request, batch: readonly Request[]): unknown {
    const { violations } = this.#engines;
    if (request.op === 'open') {
      this.#open.add(request.handle);
      return undefined;
    }
    if (!this.#open.has(request.handle)) throw new CairnError('unexpected', 'Not open.');
    if ((request.risky || request.urgent) && batch.length > 1)
      violations.push('not alone in batch');
    switch (request.op) {
      case 'insert':
        if (this.#contents.includes(request.id as string)) violations.push('inserted twice');
        this.#contents = [...this.#contents, request.id as string];
        return undefined;
      case 'insertPart':
        return this.#stage(request);
      case 'drop':
        return true;
      case 'count':
        if (request.risky) this.#check(violations);
        if (Object.hasOwn(request.criteria ?? {}, 'hang')) this.#hang();
        return this.#contents.filter((key) => !key.includes('+'));
      default:
        return undefined;
    }
  }

  #check(violations: string[]): void {
    if (this.#engines.storage === 'memory') return;
    if (this.#answering > 0) violations.push('risky beside others');
    if (this.#parts.size > 0) violations.push('risky amid an insertMany');
    if (!this.#saveFailed && this.#contents !== this.#engines.stored) violations.push('unsaved');
  }

  #stage({ call, bodies, last }: Request<'insertPart'>): undefined {
    const parts = [...(this.#parts.get(call) ?? []), ...(bodies as string[])];
    this.#parts.set(call, parts);
    if (!last) return;
    this.#parts.delete(call);
    this.#contents = [...this.#contents, parts.join('+')];
  }

  #hang(): void {
    this.#hung = true;
    this.#engines.wait().then(() => {
      this.#events.lost(new WorkerError('worker_unresponsive', 'Silent.'));
    });
  }
}
