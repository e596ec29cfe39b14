import type { Clock } from '../../async/clock.ts';
import { CairnError } from '../../errors/errors.ts';
import type { BackupTarget } from '../backup-target.ts';
import { asTargetError, TargetError } from './target-error.ts';

/** How often a call is tried. */
const ATTEMPTS = 4;

/** The longest delay before the second attempt, in milliseconds; each further one doubles it. */
const FIRST_DELAY_MS = 1000;

export interface CallSettings {
  /** Milliseconds after which an attempt counts as failed. */
  readonly timeout: number;
  readonly clock: Clock;
  readonly random: () => number;
  readonly signal?: AbortSignal | undefined;
}

/** The calls of a target: each settles, is tried again if need be, and its answer is checked. */
export class TargetCalls {
  readonly #target: BackupTarget;
  readonly #settings: CallSettings;

  constructor(target: BackupTarget, settings: CallSettings) {
    this.#target = target;
    this.#settings = settings;
  }

  put(path: string, bytes: Uint8Array): Promise<void> {
    return this.#call(path, () => this.#target.put(path, bytes));
  }

  async get(path: string): Promise<Uint8Array | undefined> {
    const bytes: unknown = await this.#call(path, () => this.#target.get(path)).catch((error) => {
      throw damagedObject(error, path) ?? error;
    });
    if (bytes === undefined || bytes instanceof Uint8Array) return bytes;
    throw strange('get', 'a Uint8Array or undefined', path);
  }

  /** The paths under a prefix, each once; others are left out. */
  async list(prefix: string): Promise<string[]> {
    const paths: unknown = await this.#call(prefix, () => this.#target.list(prefix));
    if (Array.isArray(paths) && paths.every((path) => typeof path === 'string'))
      return [...new Set<string>(paths)].filter((path) => path.startsWith(prefix));
    throw strange('list', 'a list of strings', prefix);
  }

  delete(path: string): Promise<void> {
    return this.#call(path, () => this.#target.delete(path));
  }

  async #call<T>(place: string, run: () => Promise<T>): Promise<T> {
    for (let failures = 1; ; failures++) {
      try {
        return await this.#attempt(place, run);
      } catch (cause) {
        const { signal, random } = this.#settings;
        if (signal?.aborted) throw signal.reason;
        const error: CairnError = asTargetError(cause, place);
        if (error.code !== 'target_unreachable' || failures === ATTEMPTS) throw error;
        await this.#until(random() * FIRST_DELAY_MS * 2 ** (failures - 1));
      }
    }
  }

  #attempt<T>(place: string, run: () => Promise<T>): Promise<T> {
    const { timeout } = this.#settings;
    return this.#race(timeout, run, (_, reject) => {
      const message = `The target did not answer within ${timeout / 1000} seconds. Try again, or raise the option timeout.`;
      reject(new TargetError('target_unreachable', message, { place }));
    });
  }

  #until(ms: number): Promise<void> {
    return this.#race<void>(
      ms,
      () => new Promise<void>(() => undefined),
      (resolve) => resolve(),
    );
  }

  /** Runs something until it settles, the time is over, or the caller aborts. */
  #race<T>(
    ms: number,
    run: () => Promise<T>,
    over: (resolve: (value: T) => void, reject: (cause: unknown) => void) => void,
  ): Promise<T> {
    const { clock, signal } = this.#settings;
    return new Promise<T>((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      const abort = () => settled(() => reject(signal?.reason));
      const cancel = clock.after(ms, () => settled(() => over(resolve, reject)));
      const settled = (settle: () => void) => {
        cancel();
        signal?.removeEventListener('abort', abort);
        settle();
      };
      signal?.addEventListener('abort', abort);
      // In a promise: a target may throw where it should reject.
      new Promise<T>((started) => started(run())).then(
        (value) => settled(() => resolve(value)),
        (cause: unknown) => settled(() => reject(cause)),
      );
    });
  }
}

/** Of an encrypted target: one object does not open. What its key meets stays what it is. */
function damagedObject(error: unknown, path: string): TargetError | undefined {
  if (!(error instanceof CairnError && error.code === 'data_damaged' && error.place === path))
    return undefined;
  return new TargetError('target_damaged', error.message, { place: path, cause: error });
}

function strange(method: string, allowed: string, place: string): TargetError {
  const message = `${method}() of the target must return ${allowed}. Correct the target.`;
  return new TargetError('target_refused', message, { place });
}
