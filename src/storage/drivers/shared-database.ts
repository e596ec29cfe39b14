import { Mutex } from '../../async/mutex.ts';
import type { StorageError } from '../../errors/errors.ts';
import { aroundStorage, type StorageCalls } from './around-storage.ts';
import { databaseClosed } from './database-id.ts';
import type {
  Durability,
  Storage,
  StorageEvents,
  StorageKey,
  StorageOperation,
  StorageRange,
  StoreName,
} from './driver.ts';

/**
 * A database that can be opened once, for all that have it open in this thread. Writes wait for
 * each other, reads for writes.
 */
export abstract class SharedDatabase implements StorageCalls {
  /** They get reports of damage and deletion. */
  readonly listeners = new Set<StorageEvents>();
  /** Why calls are refused. */
  protected ended: StorageError | undefined;
  readonly #writes = new Mutex();
  #closing: Promise<void> | undefined;

  abstract getMany(store: StoreName, keys: readonly StorageKey[]): Promise<unknown[]>;
  abstract list(store: StoreName, range: StorageRange): Promise<unknown[]>;
  abstract keys(store: StoreName, prefix: StorageKey): Promise<StorageKey[]>;
  abstract write(operations: Iterable<StorageOperation>, durability: Durability): Promise<void>;

  get isEnded(): boolean {
    return this.ended !== undefined;
  }

  /** The typed error for a failure. */
  protected abstract errorOf(cause: unknown, doing: string): StorageError | Promise<StorageError>;

  /** Releases the files. @param isGone Whether nothing of them may be kept. */
  protected abstract release(isGone: boolean): Promise<void>;

  /** Must be called by each read, which then sees the writes before it. */
  protected async settled(): Promise<void> {
    if (this.#writes.held) await this.#writes.held;
    if (this.ended) throw this.ended;
  }

  /** Runs a write in its turn: at once where nothing is before it. */
  protected async enqueue(write: () => Promise<void>): Promise<void> {
    if (this.ended) throw this.ended;
    await this.#writes.run(() => this.#attempt('writing', write));
  }

  /**
   * Releases the files behind the calls that have begun. Later calls reject.
   *
   * @param error Why.
   * @param isGone Whether nothing of the files may be kept.
   */
  end(error = databaseClosed(), isGone = false): Promise<void> {
    this.ended ??= error;
    this.#closing ??= this.#writes.run(() => this.#attempt('closing', () => this.release(isGone)));
    return this.#closing;
  }

  protected noteDamage(error: StorageError): void {
    for (const { damaged } of this.listeners) damaged(error);
  }

  /** Ends this database, as others have deleted it, and tells who has it open. */
  protected noteDeletion(error: StorageError): StorageError {
    if (!this.ended) {
      this.ended = error;
      for (const { deleted } of this.listeners) deleted?.();
    }
    return error;
  }

  async #attempt(doing: string, run: () => Promise<void>): Promise<void> {
    try {
      await run();
    } catch (cause) {
      throw await this.errorOf(cause, doing);
    }
  }
}

/** A database that is open, or being opened. */
interface Shared<D> {
  users: number;
  readonly database: Promise<D>;
  opened: D | undefined;
}

/** The shared databases of a driver, by name. Openings, closings and deletions never overlap. */
export class SharedOpenings<D extends SharedDatabase> {
  readonly #shared = new Map<string, Shared<D>>();
  readonly #turns = new Map<string, Mutex>();

  /**
   * @param open Opens the database where nobody has it open.
   * @returns the database, and what must be called at the end: the last one closes it.
   */
  async join(
    name: string,
    open: () => Promise<D>,
  ): Promise<{ readonly database: D; readonly leave: (isGone?: boolean) => Promise<void> }> {
    const known = this.#shared.get(name);
    const shared = known && !known.opened?.isEnded ? known : this.#begin(name, open, known);
    shared.users++;
    const database = await shared.database;
    let hasLeft = false;
    const leave = async (isGone?: boolean): Promise<void> => {
      if (hasLeft) return;
      hasLeft = true;
      if (--shared.users > 0) return;
      this.#forget(name, shared);
      await this.alone(name, () => database.end(undefined, isGone));
    };
    return { database, leave };
  }

  /**
   * An opening of a database that hears of its damage and deletion.
   *
   * @param open As of {@link join}.
   */
  async opened(name: string, events: StorageEvents, open: () => Promise<D>): Promise<Storage> {
    const { database, leave } = await this.join(name, open);
    database.listeners.add(events);
    return openedStorage(database, () => {
      database.listeners.delete(events);
      return leave();
    });
  }

  /**
   * Ends a database that may be open; who opens the name from now on opens another one.
   *
   * @param remove Removes it before that.
   */
  delete(name: string, error: StorageError, remove: () => Promise<void>): Promise<void> {
    const shared = this.#shared.get(name);
    this.#shared.delete(name);
    return this.alone(name, async () => {
      await shared?.opened?.end(error);
      await remove();
    });
  }

  /** Runs what must not overlap with others of its name. */
  alone<T>(name: string, work: () => Promise<T>): Promise<T> {
    const turn = this.#turns.get(name) ?? new Mutex();
    this.#turns.set(name, turn);
    return turn.run(work);
  }

  /** @param before The one that has ended, which may not be closed yet. */
  #begin(name: string, open: () => Promise<D>, before: Shared<D> | undefined): Shared<D> {
    const opening = async (): Promise<D> => {
      // Who closes it gets its failure.
      await before?.opened?.end().catch(() => undefined);
      shared.opened = await open();
      return shared.opened;
    };
    const shared: Shared<D> = {
      users: 0,
      database: this.alone(name, opening),
      opened: undefined,
    };
    this.#shared.set(name, shared);
    // The next opening tries again.
    shared.database.catch(() => this.#forget(name, shared));
    return shared;
  }

  #forget(name: string, shared: Shared<D>): void {
    if (this.#shared.get(name) === shared) this.#shared.delete(name);
  }
}

/**
 * One opening of a shared database.
 *
 * @param leave Called once, when it is closed.
 */
export function openedStorage(storage: StorageCalls, leave: () => Promise<void>): Storage {
  let isClosed = false;
  const checked = async <T>(call: () => Promise<T>): Promise<T> => {
    if (isClosed) throw databaseClosed();
    return call();
  };
  return aroundStorage(storage, checked, async () => {
    if (isClosed) return;
    isClosed = true;
    await leave();
  });
}
