import { ClassicLevel } from 'classic-level';
import { files } from '../../../src/node/index.ts';
import type { Storage, StorageDriver } from '../../../src/storage/drivers/driver.ts';
import { indexedDbDriver } from '../../../src/storage/drivers/indexeddb-driver.ts';
import { memoryDriver } from '../../../src/storage/drivers/memory-driver.ts';
import { storageErrorOf } from '../../../src/storage/drivers/storage-failure.ts';
import { openOpfs } from '../../../src/storage/opfs/open-opfs.ts';
import { makeFolder } from '../../../tools/browsers/child.mjs';
import { provideFiles } from '../../storage/opfs/memory-folder.ts';
import { passOn } from '../../storage/pass-on.ts';

type Write = () => Promise<void>;

/** Storage, and how one of its writes finds the disk full. */
interface Kind {
  readonly driver: () => StorageDriver;
  readonly refuse: (write: Write) => Promise<void>;
  /** Whether each write makes a file longer, that of deletes, too, and what tidies up. */
  readonly appends?: boolean;
}

const quota = () => new DOMException('The quota has been exceeded.', 'QuotaExceededError');

/** How many writes are to find the disk full that are under way. */
let refusing = 0;

async function refuse(write: Write): Promise<void> {
  refusing++;
  try {
    await write();
  } finally {
    refusing--;
  }
}

/** Puts the platform's methods back. */
export const restores: (() => void)[] = [];

/** Lets a method of the platform fail while a write is to. */
function change(target: object, name: string, full: (run: () => unknown) => unknown): void {
  const method = Reflect.get(target, name) as (...given: unknown[]) => unknown;
  restores.push(() => Reflect.set(target, name, method));
  Reflect.set(target, name, function (this: object, ...given: unknown[]) {
    const run = () => method.apply(this, given);
    return refusing > 0 ? full(run) : run();
  });
}

change(IDBObjectStore.prototype, 'put', () => {
  throw quota();
});
change(Object.getPrototypeOf(ClassicLevel.prototype), 'batch', (begin) => {
  const write = () => Promise.reject(new Error('IO error: 3.log: No space left on device'));
  return Object.assign(begin() as object, { write });
});

restores.push(
  provideFiles(() => {
    if (refusing > 0) throw quota();
  }),
);

const folder = makeFolder('full-disk');
const inFiles: StorageDriver = {
  kind: 'opfs',
  open: async (name, events) =>
    (await openOpfs(name, { events, indexedDb: indexedDbDriver() })).storage,
};

const KINDS = {
  memory: {
    driver: memoryDriver,
    refuse: () => Promise.reject(storageErrorOf(quota(), 'writing')),
  },
  IndexedDB: { driver: indexedDbDriver, refuse },
  files: { driver: () => files(folder), refuse },
  OPFS: { driver: () => inFiles, refuse, appends: true },
} satisfies Record<string, Kind>;

export type DiskKind = keyof typeof KINDS;
export const DISK_KINDS = Object.keys(KINDS) as DiskKind[];

/** A disk that is full at one write of those that are counted, or from that on. */
export class Disk {
  /** Writes so far. */
  writes = 0;
  /** Whether a write was refused. */
  struck = false;
  readonly driver: StorageDriver;
  readonly #kind: Kind;
  #fullAt = Number.POSITIVE_INFINITY;
  #isLasting = false;
  #isHeld = false;

  constructor(kind: DiskKind) {
    this.#kind = KINDS[kind];
    const driver = this.#kind.driver();
    this.driver = {
      ...driver,
      open: async (name, events) => this.#wrap(await driver.open(name, events)),
    };
  }

  fill(nth: number, isLasting: boolean): void {
    this.writes = 0;
    this.#fullAt = nth;
    this.#isLasting = isLasting;
  }

  free(): void {
    this.#fullAt = Number.POSITIVE_INFINITY;
    if (this.#isHeld) refusing--;
    this.#isHeld = false;
  }

  #wrap(storage: Storage): Storage {
    const { appends, refuse } = this.#kind;
    return {
      ...passOn(storage),
      write: (operations, durability) => {
        const all = [...operations];
        const write = () => storage.write(all, durability);
        // What only deletes needs no room.
        if (!appends && all.every(({ type }) => type.startsWith('delete'))) return write();
        const nth = this.writes++;
        if (this.#isLasting ? nth < this.#fullAt : nth !== this.#fullAt) return write();
        this.struck = true;
        if (appends && this.#isLasting && !this.#isHeld) {
          this.#isHeld = true;
          refusing++;
        }
        return refuse(write);
      },
    };
  }
}
