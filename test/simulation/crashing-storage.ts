import { StorageError } from '../../src/errors/errors.ts';
import type { StorageDriver, StorageOperation } from '../../src/storage/drivers/driver.ts';
import { SimStorage } from './sim-storage.ts';
import type { Tab } from './tab.ts';
import type { Owner, World } from './world.ts';

/** Storage whose tabs end as they write, and that may have no room for files. */
export class CrashingStorage extends SimStorage {
  /** How often. */
  crashes = 0;
  /** The longest that a late document takes to come, in milliseconds; most are not late. */
  lateness = 0;
  /** Whether parts of files find no room. */
  isFull = false;
  readonly #world: World;

  constructor(world: World) {
    super(world);
    this.#world = world;
  }

  heal(): void {
    this.crashes = 0;
    this.lateness = 0;
    this.isFull = false;
    this.weather.slowness = 3;
  }

  override driverOf(owner: Owner): StorageDriver {
    const driver = super.driverOf(owner);
    const { random } = this.#world;
    return {
      kind: driver.kind,
      open: async (name, events) => {
        const storage = await driver.open(name, events);
        return {
          ...storage,
          getMany: async (store, keys) => {
            const found = await storage.getMany(store, keys);
            const ms = random.chance(this.lateness ? 0.2 : 0)
              ? random.between(0, this.lateness)
              : 0;
            if (ms) await new Promise<void>((resolve) => this.#world.after(ms, owner, resolve));
            return found;
          },
          write: async (operations, durability) => {
            const all = [...operations];
            if (this.isFull && all.some(isFilePart))
              throw new StorageError('storage_full', 'The simulation has no room left.');
            if (random.chance(this.crashes))
              this.#world.after(random.between(0, 5), owner, () => (owner as Tab).kill());
            return storage.write(all, durability);
          },
        };
      },
    };
  }
}

function isFilePart(operation: StorageOperation): boolean {
  return operation.type === 'put' && operation.key[0] === 'orders file parts';
}
