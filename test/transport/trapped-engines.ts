import { AsyncLocalStorage } from 'node:async_hooks';
import { Engine } from '../../src/engine/engine.ts';
import type { Session } from '../../src/engine/sessions/session.ts';
import { asCairnError, type CairnError, WorkerError } from '../../src/errors/errors.ts';
import {
  type Connect,
  type LeaderEngine,
  type LeaderEngineEvents,
  Leadership,
  type StartEngine,
} from '../../src/page/connection/leadership.ts';
import { numberedChanges } from '../../src/page/connection/replay.ts';
import type { Route, RouteEvents } from '../../src/page/connection/route.ts';
import type { PendingTerm } from '../../src/protocol/database-settings.ts';
import type { EngineEvent } from '../../src/protocol/event-protocol.ts';
import type { FirstSequenceNumbers, Request } from '../../src/protocol/requests.ts';
import { FakeClock } from '../engine/fake-clock.ts';
import { lonePlatform } from '../engine/lone-platform.ts';
import { randomId } from '../engine/random-id.ts';
import { faultyDriver } from '../storage/faulty-driver.ts';

const never = new Promise<never>(() => undefined);
const test = RegExp.prototype.test;
/** The engine that executes a request. */
const working = new AsyncLocalStorage<TrappedEngine>();

/** Matches texts that begin with `a`; never returns for the text `hang` with the same number. */
export const trap = (number: number): RegExp => new RegExp(`trap${number}|^a`);

/**
 * Real engines, one after the other over the same storage, that hang in a {@link trap} or crash as
 * a worker does: afterwards they neither answer, nor send events, nor write. To be disposed of: it
 * patches `RegExp.prototype.test`.
 */
export class TrappedEngines {
  /** Violated invariants. */
  readonly violations: string[] = [];
  /** The engines so far. */
  readonly engines: TrappedEngine[] = [];
  readonly clock = new FakeClock();
  readonly driver = faultyDriver();
  /** The kind of their storage. */
  storageKind = 'indexeddb';
  /** How many more can be started. */
  left = Number.POSITIVE_INFINITY;
  /** How many have hung. */
  hung = 0;
  /** Turns of the event loop until an answer, news, or the end of a hung engine. */
  delay: () => number = () => 1;
  /** Called with each received request, before its execution. */
  onRequest: (request: Request) => void = () => undefined;

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

  /** Connects to these engines as their only page. */
  readonly connect: Connect = (settings) => {
    const platform = lonePlatform(this.clock, this.driver);
    const leadership = new Leadership(settings.name, true, platform, this.begin);
    return { leadership, platform };
  };

  readonly begin: StartEngine = async (lead, events) => {
    await this.wait();
    if (this.left-- <= 0)
      throw new WorkerError('worker_start_failed', 'There are no more workers.');
    const engine = await TrappedEngine.begin(this, lead, events);
    this.engines.push(engine);
    return engine;
  };

  /** The running engine. */
  get running(): TrappedEngine | undefined {
    return this.engines.at(-1);
  }

  /** Crashes the running engine, as when it is out of memory. */
  crash(): void {
    this.running?.crash();
  }

  async wait(turns = this.delay()): Promise<void> {
    for (let left = turns; left > 0; left--) {
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  #look(source: string, text: string): void {
    const running = working.getStore();
    // A crashed engine does not know that it has crashed.
    if (!source.startsWith('trap') || !running || running.hasEnded) return;
    const { mayHang, engine } = running;
    // Replayed changes have no traps.
    if (mayHang > 1 || (mayHang === 0 && engine.recovery.isOver))
      this.violations.push(`a pattern with ${mayHang} mayHang requests`);
    if (text !== `hang${source.slice(4, source.indexOf('|'))}`) return;
    this.hung++;
    running.hang();
    throw new Error('No caller gets this error.');
  }
}

/** An engine as in a worker: receives requests in order and answers later. */
export class TrappedEngine implements LeaderEngine {
  readonly shared: boolean;
  readonly engine: Engine;
  /** Its requests, in order. */
  readonly requests: Request[] = [];
  /** Numbers of its changes, in order. */
  readonly numbers: number[] = [];
  /** Numbers of the replayed changes. */
  readonly replayed: number[] = [];
  /** How many mayHang requests are being executed. */
  mayHang = 0;
  readonly #engines: TrappedEngines;
  readonly #routes: RouteEvents[] = [];
  #ended = false;
  #heard = Promise.resolve();
  #answered = Promise.resolve();
  #sent = Promise.resolve();
  #lose: (error: CairnError) => void = () => undefined;
  readonly #lost: Promise<never>;

  private constructor(engines: TrappedEngines, engine: Engine, events: LeaderEngineEvents) {
    this.#engines = engines;
    this.engine = engine;
    this.shared = engines.storageKind !== 'memory';
    this.#lost = new Promise((_, reject) => {
      this.#lose = reject;
    });
    this.#lost.catch((error: CairnError) => events.lost(error));
  }

  static async begin(
    engines: TrappedEngines,
    { locked, stolen, expected }: PendingTerm,
    events: LeaderEngineEvents,
  ): Promise<TrappedEngine> {
    const storage = await engines.driver.open('trapped', { damaged: () => undefined });
    const engine = new Engine({
      storage,
      storageKind: engines.storageKind,
      durability: 'relaxed',
      clock: engines.clock,
      newId: randomId,
      succession: {
        locked,
        stolen,
        expected: expected.then((clients) => new Set(clients)),
        left: Promise.resolve([]),
        taken: events.superseded,
        forgotten: events.recovered,
      },
    });
    return new TrappedEngine(engines, engine, events);
  }

  get hasEnded(): boolean {
    return this.#ended;
  }

  async join(client: string, events: RouteEvents): Promise<Route> {
    this.#routes.push(events);
    const session = this.engine.join((event) => this.#tell(event, events), client);
    await this.#answerOrLose(async () => undefined);
    events.event({ type: 'status', detail: this.engine.status });
    return {
      started: 'file',
      own: true,
      replay: (opened, changes, database) =>
        this.#answerOrLose(() => {
          this.replayed.push(...changes.map(({ number }) => number));
          return session.resume(opened, structuredClone(changes), database);
        }),
      execute: (batch, first) => this.#execute(session, structuredClone(batch), first),
      watch: (on) =>
        this.#answerOrLose(async () => {
          session.watching = on;
        }),
      save: () => this.#answerOrLose(() => session.save()),
      leave: () => undefined,
    };
  }

  replayJournals(): void {
    throw new Error('There is no page.');
  }

  async stop(): Promise<void> {
    if (this.#ended) throw await this.#lost.catch((error) => error);
    this.#ended = true;
    await this.engine.stop();
  }

  resign(): void {}

  abandon(): void {
    this.#ended = true;
  }

  /** Ends by a hang, detected by its silence. */
  hang(): void {
    this.#end();
    const error = new WorkerError('worker_unresponsive', 'Silent.');
    this.#engines.wait().then(() => {
      for (const { lost } of this.#routes) lost(error);
      this.#lose(error);
    });
  }

  /** Ends by a crash, which is reported. */
  crash(): void {
    if (this.#ended) return;
    this.#end();
    this.#lose(new WorkerError('worker_lost', 'Out of memory.'));
  }

  #end(): void {
    this.#ended = true;
    this.#engines.driver.crash();
  }

  async #execute(session: Session, batch: readonly Request[], first: FirstSequenceNumbers) {
    // Another engine answers the lost calls, if any does.
    return this.#answer(async () => {
      const { violations, onRequest } = this.#engines;
      const mayHang = batch[0]?.mayHang === true;
      if (mayHang && batch.length > 1) violations.push('mayHang beside others');
      this.requests.push(...batch);
      for (const [, , number] of numberedChanges(batch, first)) this.numbers.push(number);
      batch.forEach(onRequest);
      if (this.#ended) return never;
      if (mayHang) this.mayHang++;
      const reply = await session.execute(batch, first);
      if (mayHang) this.mayHang--;
      return reply;
    });
  }

  #answerOrLose<T>(run: () => Promise<T>): Promise<T> {
    return Promise.race([this.#answer(run), this.#lost]);
  }

  /** Receives in order, and answers in order of execution; not at all after its end. */
  async #answer<T>(run: () => Promise<T>): Promise<T> {
    this.#heard = this.#heard.then(() => this.#engines.wait());
    await this.#heard;
    if (this.#ended) return never;
    try {
      return await working.run(this, run);
    } catch (error) {
      throw asCairnError(error);
    } finally {
      this.#answered = this.#answered.then(() => this.#engines.wait());
      await this.#answered;
      if (this.#ended) await never;
    }
  }

  #tell(event: EngineEvent, { event: tell }: RouteEvents): void {
    if (this.#ended) return;
    this.#sent = this.#sent
      .then(() => this.#engines.wait())
      .then(() => {
        if (!this.#ended) tell(event);
      });
  }
}
