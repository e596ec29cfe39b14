import { lockName } from '../../../platform/lock-names.ts';
import { navigatorObject } from '../../../platform/platform-object.ts';
import type { DatabaseSettings, WorkerSource } from '../../../protocol/database-settings.ts';
import { startWorker, type WorkerStart } from './worker-start.ts';

/** The workers of Cairn's own that nobody has taken, by database: clients of one page need one. */
const untaken = new Map<string, EarlyWorker>();

/**
 * The first worker of a client, which starts beside the request for the page's part: one after the
 * other they would be two round trips. docs/decisions/008-code-splitting.md has the figures.
 */
export class EarlyWorker {
  readonly #source: WorkerSource | undefined;
  readonly #settings: DatabaseSettings;
  #start: Promise<WorkerStart | undefined> | undefined;

  constructor(source: WorkerSource | undefined, settings: DatabaseSettings) {
    this.#source = source;
    this.#settings = settings;
  }

  begin(): void {
    const { name } = this.#settings;
    // A worker that the caller made runs anyway, and is the caller's to end.
    if (typeof this.#source === 'object') return;
    if (!this.#source) {
      if (untaken.has(name)) return;
      untaken.set(name, this);
    }
    this.#start = this.#isLed().then((isLed) => (isLed ? undefined : startWorker(this.#source)));
    // It is reported to the client that takes the worker.
    this.#start.catch(() => undefined);
  }

  /** The worker, once; resolves with `undefined` where none was begun. */
  async take(): Promise<WorkerStart | undefined> {
    const { name } = this.#settings;
    const holder = this.#source || this.#start ? this : untaken.get(name);
    if (!holder) return undefined;
    return holder.#release();
  }

  /** Ends a worker that nobody has taken: another tab runs the engine, or the client has ended. */
  end(): void {
    this.#release()?.then(
      (start) => start?.started?.worker.terminate(),
      () => undefined,
    );
  }

  #release(): Promise<WorkerStart | undefined> | undefined {
    const start = this.#start;
    this.#start = undefined;
    const { name } = this.#settings;
    if (untaken.get(name) === this) untaken.delete(name);
    return start;
  }

  /** Whether another client runs the engine. Where a page cannot ask, the worker finds out. */
  async #isLed(): Promise<boolean> {
    const { name, storage } = this.#settings;
    if (storage === 'memory') return false;
    try {
      const { held } = (await navigatorObject('locks')?.query()) ?? {};
      return held?.some((lock) => lock.name === lockName(name)) === true;
    } catch {
      // The browser does not tell: Firefox refuses this to frames of other sites.
      return false;
    }
  }
}
