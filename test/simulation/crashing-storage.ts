import type { StorageDriver } from '../../src/storage/drivers/driver.ts';
import { SimStorage } from './sim-storage.ts';
import type { Tab } from './tab.ts';
import type { Owner, World } from './world.ts';

/** Storage whose tabs end as they write. */
export class CrashingStorage extends SimStorage {
  /** How often. */
  crashes = 0;
  readonly #world: World;

  constructor(world: World) {
    super(world);
    this.#world = world;
  }

  heal(): void {
    this.crashes = 0;
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
          write: (operations, durability) => {
            if (random.chance(this.crashes))
              this.#world.after(random.between(0, 5), owner, () => (owner as Tab).kill());
            return storage.write(operations, durability);
          },
        };
      },
    };
  }
}
