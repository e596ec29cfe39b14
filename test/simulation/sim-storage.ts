import { StorageError } from '../../src/errors/errors.ts';
import type {
  RecoveryKey,
  RecoveryRecord,
  UnloadJournals,
  UnloadWriter,
} from '../../src/protocol/recovery-records.ts';
import type {
  Storage,
  StorageDriver,
  StorageKey,
  StorageOperation,
} from '../../src/storage/drivers/driver.ts';
import { emptyStores, MemoryStorage } from '../../src/storage/drivers/memory-storage.ts';
import type { Owner, World } from './world.ts';

/** How storage treats those who use it. */
export interface Weather {
  /** The longest that a transaction takes, in milliseconds. */
  slowness: number;
  /** How often one fails. */
  failures: number;
}

/**
 * The database on a browser's disk. Transactions are carried out one after the other, in the order
 * they were begun in.
 */
export class SimStorage {
  readonly weather: Weather = { slowness: 3, failures: 0 };
  /** What was done that must never be. */
  readonly violations: string[] = [];
  readonly #world: World;
  #stores = emptyStores();
  /**
   * Whether what a page begins as it ends is ended with it, as in WebKit: it writes a journal
   * instead.
   */
  readonly #endsTransactions: boolean;
  readonly #journals = new Map<string, RecoveryRecord>();
  readonly #listeners = new Set<() => void>();
  #free = 0;

  constructor(world: World) {
    this.#world = world;
    this.#endsTransactions = world.random.chance(0.3);
  }

  driverOf(owner: Owner): StorageDriver {
    return {
      kind: 'indexeddb',
      delete: () =>
        this.#transaction(owner, true, async () => {
          this.#stores.leadership.clear();
          this.#stores = emptyStores();
        }),
      open: async () => {
        // A database that cannot be opened is an error of every call, and of nobody else.
        await this.#transaction(owner, false, async () => undefined, 0);
        const storage = new MemoryStorage(this.#stores);
        const read = <T>(run: () => Promise<T>) => this.#transaction(owner, false, run);
        return {
          getMany: (store, keys) => read(() => storage.getMany(store, keys)),
          list: (store, range) => read(() => storage.list(store, range)),
          keys: (store, prefix) => read(() => storage.keys(store, prefix)),
          write: (operations) => this.#write(owner, storage, operations),
          close: () => storage.close(),
        } satisfies Storage;
      },
    };
  }

  /** What a page writes as it ends: begun in that moment, and carried out. */
  get pageWriting(): UnloadWriter {
    // A record of a page may come to a database that was made anew meanwhile.
    const storage = { write: this.#writeNow };
    const written: StorageKey[] = [];
    const journaled: RecoveryKey[] = [];
    const record = (left: RecoveryRecord) => {
      const key = [left.client, left.ending];
      const value = structuredClone(left);
      written.push(key);
      this.#inTurn(undefined, () =>
        storage.write([{ type: 'put', store: 'recovery', key, value }]),
      );
    };
    return {
      prepare: () => undefined,
      store: (left) => {
        // Its connection may not be open.
        const isOpen = this.#world.random.chance(0.8);
        if (isOpen) record(left);
        return isOpen;
      },
      journal: (left) => {
        this.#note(structuredClone(left));
        // It has all unsaved changes, so the earlier ones go.
        this.journals.forget('', journaled.splice(0));
        journaled.push([left.client, left.ending]);
      },
      forget: () => {
        this.journals.forget('', journaled.splice(0));
        for (const key of written.splice(0))
          this.#inTurn(undefined, () =>
            storage.write([{ type: 'delete', store: 'recovery', key }]),
          );
      },
      write: (left, prefersJournal = false) => {
        const value = structuredClone(left);
        const { random } = this.#world;
        // Of two places at least one has it: the record's connection may not be open, the journal
        // may have no room.
        const isNoted = this.#endsTransactions || random.chance(0.7);
        const isRecorded =
          !this.#endsTransactions && !(isNoted && (prefersJournal || random.chance(0.2)));
        // Beside a record it may be cut short.
        const room = isRecorded && random.chance(0.5) ? random.below(3) : value.changes.length;
        if (isNoted) this.#note({ ...value, changes: value.changes.slice(0, room) });
        if (isRecorded) record(left);
        return true;
      },
      close: () => undefined,
    };
  }

  readonly #writeNow = (operations: StorageOperation[]) =>
    new MemoryStorage(this.#stores).write(operations);

  #note(left: RecoveryRecord): void {
    const { random } = this.#world;
    this.#journals.set(keyOf([left.client, left.ending]), left);
    for (const hear of this.#listeners) this.#world.after(random.between(0, 2), undefined, hear);
  }

  readonly journals: UnloadJournals = {
    write: (_database, left) => {
      this.#note(structuredClone(left));
      return left.changes.length;
    },
    read: () => structuredClone([...this.#journals.values()]),
    forget: (_database, left) => {
      for (const one of left) this.#journals.delete(keyOf(one));
    },
    clear: () => this.#journals.clear(),
    onWritten: (_database, listener) => {
      this.#listeners.add(listener);
      return () => this.#listeners.delete(listener);
    },
  };

  #write(
    owner: Owner,
    storage: MemoryStorage,
    operations: Iterable<StorageOperation>,
  ): Promise<void> {
    const drawn = [...operations];
    return this.#transaction(owner, true, async () => {
      // Columns for a new index are the one thing that is ever added to a segment; here are no
      // indexes.
      const overwritten = drawn.flatMap((one) =>
        one.type === 'put' && one.store === 'segments' ? JSON.stringify(one.key) : [],
      );
      const known = overwritten.filter((id) => this.#stores.segments.has(id));
      await storage.write(drawn);
      for (const id of known) this.violations.push(`segment ${id} was overwritten`);
    });
  }

  #transaction<T>(
    owner: Owner,
    isWrite: boolean,
    run: () => Promise<T>,
    failures = this.weather.failures,
  ): Promise<T> {
    const { random } = this.#world;
    const fails = random.chance(failures);
    const applied = !fails || (isWrite && random.chance(0.3));
    const survives = !isWrite || random.chance(0.5);
    return new Promise((resolve, reject) => {
      this.#inTurn(owner, async () => {
        // The transaction of a page that is gone is carried out, or not at all.
        const isCarriedOut = owner.closing && !this.#endsTransactions;
        if (owner.dead && !survives && !isCarriedOut) return;
        let result: { value: T } | { error: unknown };
        try {
          if (!applied) throw outage();
          const value = await run();
          result = fails ? { error: outage() } : { value };
        } catch (error) {
          result = { error };
        }
        this.#world.after(random.between(0, 2), owner, () => {
          if ('value' in result) resolve(result.value);
          else reject(result.error);
        });
      });
    });
  }

  /** Carries something out once all that was begun before is. */
  #inTurn(_owner: Owner | undefined, run: () => Promise<void>): void {
    const { now, random } = this.#world;
    const due = Math.max(this.#free, now) + random.between(0, this.weather.slowness);
    this.#free = due;
    this.#world.after(due - now, undefined, () => void run());
  }
}

const keyOf = (left: RecoveryKey) => JSON.stringify(left);

function outage(): StorageError {
  return new StorageError('storage_failed', 'The simulation let storage fail.');
}
