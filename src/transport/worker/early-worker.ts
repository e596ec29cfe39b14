import type { DatabaseSettings } from '../channel/channel.ts';
import { lockName } from '../leadership/lock-names.ts';
import { startWorker, type WorkerSource, type WorkerStart } from './worker-start.ts';

/**
 * The first worker of a client, which starts beside the request for the page's part: one after the other they would be
 * two round trips.
 */
export class EarlyWorker {
  readonly #source: (() => Worker) | undefined;
  readonly #settings: DatabaseSettings;
  /** Whether a worker may start: that of the caller runs anyway, and is the caller's to end. */
  readonly #may: boolean;
  #start: Promise<WorkerStart | undefined> | undefined;

  constructor(source: WorkerSource | undefined, settings: DatabaseSettings) {
    this.#may = source === undefined || typeof source === 'function';
    this.#source = typeof source === 'function' ? source : undefined;
    this.#settings = settings;
  }

  begin(): void {
    if (this.#start || !this.#may) return;
    this.#start = this.#isLed().then((isLed) => (isLed ? undefined : startWorker(this.#source)));
    // It is reported to the client that takes the worker.
    this.#start.catch(() => undefined);
  }

  /** The worker, once; resolves with `undefined` where none was begun. */
  async take(): Promise<WorkerStart | undefined> {
    const start = this.#start;
    this.#start = undefined;
    return start;
  }

  /** Ends a worker that nobody has taken: another tab runs the engine, or the client has ended. */
  end(): void {
    const untaken = this.take();
    untaken.then(
      (start) => start?.started?.worker.terminate(),
      () => undefined,
    );
  }

  /** Whether another client runs the engine. A page that cannot ask takes its chance: the worker ends if so. */
  async #isLed(): Promise<boolean> {
    const { name, storage } = this.#settings;
    if (storage === 'memory') return false;
    try {
      const { held = [] } = await navigator.locks.query();
      return held.some((lock) => lock.name === lockName(name));
    } catch {
      // Refused, or there are no locks: then there is no leader in another tab either.
      return false;
    }
  }
}
