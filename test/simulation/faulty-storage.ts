import { StorageError, type StorageErrorCode } from '../../src/errors/errors.ts';
import type { Storage, StorageDriver, StorageOperation } from '../../src/storage/drivers/driver.ts';
import type { Manifest } from '../../src/storage/log/manifest.ts';
import { SimStorage } from './sim-storage.ts';
import type { Owner, World } from './world.ts';

export const STORAGE_CALLS = ['open', 'getMany', 'list', 'keys', 'write', 'close'] as const;
export type StorageCall = (typeof STORAGE_CALLS)[number];

/**
 * How a call fails. `close`: the connection is lost, and all that is asked of it later fails too.
 * `applied`: it was carried out, and is reported as failed.
 */
export const FAULT_KINDS = ['full', 'unknown', 'invalid', 'hang', 'close', 'applied'] as const;
export type FaultKind = (typeof FAULT_KINDS)[number];

/** Which call fails, and how. */
export interface Fault {
  readonly call: StorageCall;
  /** Its place among the calls of its kind, from 0. */
  readonly nth: number;
  readonly kind: FaultKind;
  /**
   * Whether those of its kind that come after it fail too, until storage works again; with `close`,
   * all do.
   */
  readonly lasting: boolean;
}

/** As the IndexedDB driver has it: what hangs is given up then. */
const OPEN_DEADLINE_MS = 10_000;
const TRANSACTION_DEADLINE_MS = 60_000;

const CODES: Record<FaultKind, StorageErrorCode> = {
  full: 'storage_full',
  unknown: 'storage_failed',
  invalid: 'storage_lost',
  hang: 'storage_timeout',
  close: 'storage_lost',
  applied: 'storage_failed',
};

/** A connection of one tab. */
interface Connection {
  readonly owner: Owner;
  isLost: boolean;
}

/** Storage that fails at one call. */
export class FaultyStorage extends SimStorage {
  /** Calls so far. */
  readonly calls: Record<StorageCall, number> = {
    open: 0,
    getMany: 0,
    list: 0,
    keys: 0,
    write: 0,
    close: 0,
  };
  /** Whether a call has failed. */
  struck = false;
  /** Whether segments were put in the place of others. */
  merged = false;
  readonly #world: World;
  #fault: Fault | undefined;

  constructor(world: World, fault?: Fault) {
    super(world);
    this.#world = world;
    this.#fault = fault;
  }

  /** Everything works again; a connection that was lost is made anew by the driver. */
  heal(): void {
    this.#fault = undefined;
  }

  override driverOf(owner: Owner): StorageDriver {
    const driver = super.driverOf(owner);
    return {
      kind: driver.kind,
      open: (name, events) => {
        const connection = { owner, isLost: false };
        return this.#perform('open', connection, async () =>
          this.#wrap(await driver.open(name, events), connection),
        );
      },
    };
  }

  #wrap(storage: Storage, connection: Connection): Storage {
    return {
      getMany: (...args) => this.#perform('getMany', connection, () => storage.getMany(...args)),
      list: (...args) => this.#perform('list', connection, () => storage.list(...args)),
      keys: (...args) => this.#perform('keys', connection, () => storage.keys(...args)),
      write: (operations, durability) =>
        this.#perform('write', connection, async () => {
          const drawn = [...operations];
          await storage.write(drawn, durability);
          this.merged ||= isMerge(drawn);
        }),
      close: () => this.#perform('close', connection, () => storage.close()),
    };
  }

  async #perform<T>(call: StorageCall, connection: Connection, run: () => Promise<T>): Promise<T> {
    const kind = this.#faultOf(call, connection);
    if (!kind) return run();
    this.struck = true;
    if (kind === 'applied') await run();
    else await this.#wait(connection.owner, kind === 'hang' ? deadlineOf(call) : 1);
    throw new StorageError(CODES[kind], `The simulation let storage fail (${call}, ${kind}).`);
  }

  #faultOf(call: StorageCall, connection: Connection): FaultKind | undefined {
    const nth = this.calls[call]++;
    const fault = this.#fault;
    if (!fault) return undefined;
    const { kind, lasting } = fault;
    const isDue = call === fault.call && (lasting ? nth >= fault.nth : nth === fault.nth);
    if (kind !== 'close') return isDue ? kind : undefined;
    if (isDue || (lasting && this.struck)) connection.isLost = true;
    return connection.isLost ? kind : undefined;
  }

  #wait(owner: Owner, ms: number): Promise<void> {
    return new Promise((resolve) => void this.#world.after(ms, owner, resolve));
  }
}

function isMerge(operations: readonly StorageOperation[]): boolean {
  const puts = operations.filter((one) => one.type === 'put');
  const added = puts.filter(({ store }) => store === 'segments').map(({ key }) => key[1]);
  // A save that stores a manifest lists older segments alone.
  return puts.some(
    ({ store, value }) =>
      store === 'collections' && (value as Manifest).segments.some((one) => added.includes(one)),
  );
}

function deadlineOf(call: StorageCall): number {
  return call === 'open' ? OPEN_DEADLINE_MS : TRANSACTION_DEADLINE_MS;
}
