import type { Clock } from '../../async/clock.ts';
import { CairnError } from '../../errors/errors.ts';
import type { BackupTarget } from '../backup-target.ts';

/** Codes of {@link TargetError}. */
export type TargetErrorCode =
  /** No answer in time, no connection, or the server fails for now. */
  | 'target_unreachable'
  /** The credentials are wrong, or the permission for the folder is missing. */
  | 'target_denied'
  /** There is no room left. */
  | 'target_full'
  /** The target does not accept the request, or answers with something else. */
  | 'target_refused'
  /** A backup, or a part of one, is missing or changed. */
  | 'target_damaged'
  /** What is stored under the name of a backup is none. */
  | 'target_foreign'
  /** A later version of cairndb wrote the backup. */
  | 'target_newer'
  /** The backups to the target were stopped. */
  | 'target_stopped';

/**
 * Backups elsewhere cannot be written or read, for now or as asked; `place` is a path, a URL or a
 * backup.
 */
export class TargetError extends CairnError<TargetErrorCode> {
  static {
    this.prototype.name = 'TargetError';
  }
}

/** The errors of file systems and of `fetch`, by their names in the web platform. */
const CODES: Readonly<Record<string, TargetErrorCode>> = {
  QuotaExceededError: 'target_full',
  NotAllowedError: 'target_denied',
  SecurityError: 'target_denied',
  NoModificationAllowedError: 'target_denied',
};

const SAYS: Readonly<Partial<Record<TargetErrorCode, string>>> = {
  target_full: 'The target has no room left: make room, or let backups expire earlier',
  target_denied: 'The target may not be used: ask for permission again, in a click',
  target_unreachable: 'The target cannot be reached',
};

/** The typed error of a failed call; errors of other families stay as they are. */
function asTargetError(cause: unknown, place: string): CairnError {
  if (cause instanceof CairnError) return cause;
  const { name = '', message = String(cause) } = (cause ?? {}) as Partial<Error>;
  const code = CODES[name] ?? 'target_unreachable';
  return new TargetError(code, `${SAYS[code]} (${message}).`, { place, cause });
}

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

/**
 * Calls of a target under way at once: enough to hide the delay of a network, few enough for any
 * server.
 */
export const AT_ONCE = 4;

/** Runs tasks a few at a time, for a producer that waits for room. The first failure ends it. */
export class TaskPool {
  readonly #running = new Set<Promise<void>>();
  #failure: { readonly cause: unknown } | undefined;

  /** Resolves once the task has begun. */
  async add(task: () => Promise<void>): Promise<void> {
    while (this.#running.size >= AT_ONCE) await Promise.race(this.#running);
    this.#check();
    const running: Promise<void> = task()
      .catch((cause: unknown) => {
        this.#failure ??= { cause };
      })
      .finally(() => this.#running.delete(running));
    this.#running.add(running);
  }

  /** Resolves once all tasks have. */
  async end(): Promise<void> {
    await Promise.all(this.#running);
    this.#check();
  }

  #check(): void {
    if (this.#failure) throw this.#failure.cause;
  }
}

/**
 * Runs an async function over all items, a few at a time. After a failure no more begin; it settles
 * once none runs.
 *
 * @returns the results in order.
 */
export async function inParallel<T, R>(
  items: readonly T[],
  run: (item: T) => Promise<R>,
): Promise<R[]> {
  const results: R[] = [];
  const pool = new TaskPool();
  try {
    for (const [at, item] of items.entries())
      await pool.add(async () => {
        results[at] = await run(item);
      });
  } finally {
    await pool.end();
  }
  return results;
}
