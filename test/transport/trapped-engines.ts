import { Engine } from '../../src/engine/engine.ts';
import type { EngineEvent, Request } from '../../src/engine/protocol.ts';
import { asCairnError } from '../../src/errors/as-cairn-error.ts';
import { WorkerError } from '../../src/errors/worker-error.ts';
import type { Storage } from '../../src/storage/driver.ts';
import { memoryDriver } from '../../src/storage/memory-driver.ts';
import type { Channel, ChannelEvents } from '../../src/transport/channel.ts';
import { FakeClock } from '../engine/fake-clock.ts';

const never = new Promise<never>(() => undefined);
const test = RegExp.prototype.test;

/** Finds texts that begin with `a`; never comes to an end in the text `hang` with the same number. */
export const trap = (number: number): RegExp => new RegExp(`trap${number}|^a`);

/**
 * Real engines, one after the other over the same storage, that hang in a {@link trap} as a worker does: from
 * then on they neither answer nor tell anything. To be disposed of: it watches `RegExp.prototype.test`.
 */
export class TrappedEngines {
  /** What happened that never should. */
  readonly violations: string[] = [];
  readonly #driver = memoryDriver();
  #running: TrappedEngine | undefined;
  /** How many have hung. */
  hung = 0;
  /** Turns of the event loop until an answer, news, or the end of one that hangs. */
  delay: () => number = () => 1;

  constructor() {
    const look = (pattern: RegExp, text: string) => this.#look(pattern.source, text);
    RegExp.prototype.test = function (text: string) {
      look(this, text);
      return test.call(this, text);
    };
  }

  [Symbol.dispose](): void {
    RegExp.prototype.test = test;
  }

  readonly begin = async (events: ChannelEvents): Promise<Channel> => {
    await this.wait();
    const storage = await this.#driver.open('trapped', { damaged: () => undefined });
    this.#running = new TrappedEngine(this, storage, events);
    events.event({ type: 'status', detail: this.#running.engine.status });
    return this.#running;
  };

  async wait(turns = this.delay()): Promise<void> {
    for (let left = turns; left > 0; left--) {
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  #look(source: string, text: string): void {
    const running = this.#running;
    if (!source.startsWith('trap') || !running) return;
    if (running.risky !== 1) this.violations.push(`${running.risky} risky requests`);
    if (running.engine.status.unsaved > 0) this.violations.push('unsaved');
    if (text !== `hang${source.slice(4, source.indexOf('|'))}`) return;
    this.hung++;
    running.hang();
    throw new Error('Nobody hears of this.');
  }
}

class TrappedEngine implements Channel {
  readonly started = 'file';
  readonly engine: Engine;
  /** How many risky requests are being executed. */
  risky = 0;
  readonly #engines: TrappedEngines;
  readonly #events: ChannelEvents;
  readonly #session: ReturnType<Engine['join']>;
  #hung = false;
  #heard = Promise.resolve();
  #told = Promise.resolve();

  constructor(engines: TrappedEngines, storage: Storage, events: ChannelEvents) {
    this.#engines = engines;
    this.#events = events;
    this.engine = new Engine({
      storage,
      storageKind: 'indexeddb',
      durability: 'relaxed',
      clock: new FakeClock(),
      newId: (length) => Math.random().toString(36).padEnd(length, '_').slice(0, length),
    });
    this.#session = this.engine.join((event) => this.#tell(event));
  }

  execute(batch: readonly Request[]) {
    return this.#answer(async () => {
      const { risky } = batch[0] as Request;
      if (risky && batch.length > 1) this.#engines.violations.push('risky beside others');
      if (risky) this.risky++;
      const reply = await this.#session.execute(batch);
      if (risky) this.risky--;
      return reply;
    });
  }

  watch(on: boolean): Promise<void> {
    return this.#answer(async () => {
      this.#session.watching = on;
    });
  }

  save(): Promise<void> {
    return this.#answer(() => this.#session.save());
  }

  async close(): Promise<void> {
    this.#session.leave();
    await this.engine.stop();
  }

  hang(): void {
    this.#hung = true;
    this.#engines.wait().then(() => {
      this.#events.lost(new WorkerError('worker_unresponsive', 'Silent.'));
    });
  }

  /** Is heard in order, answers when it is done, and not at all once it hangs. */
  async #answer<T>(run: () => Promise<T>): Promise<T> {
    this.#heard = this.#heard.then(() => this.#engines.wait());
    await this.#heard;
    if (this.#hung) return never;
    try {
      return await run();
    } catch (error) {
      throw asCairnError(error);
    } finally {
      await this.#engines.wait();
      if (this.#hung) await never;
    }
  }

  #tell(event: EngineEvent): void {
    if (this.#hung) return;
    this.#told = this.#told
      .then(() => this.#engines.wait())
      .then(() => {
        if (!this.#hung) this.#events.event(event);
      });
  }
}
