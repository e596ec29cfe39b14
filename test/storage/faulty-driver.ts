import { StorageError } from '../../src/errors/storage-error.ts';
import type { Storage, StorageDriver, StorageOperation } from '../../src/storage/driver.ts';
import { memoryDriver } from '../../src/storage/memory-driver.ts';

type StorageCall = 'write' | 'getMany' | 'list' | 'keys';

/** Before: the call has no effect. After: it took effect, and its answer was lost on the way. */
export type FaultMoment = 'before' | 'after';

interface Fault {
  readonly call: StorageCall;
  readonly when: FaultMoment;
  /** How many such calls go well first. */
  readonly after?: number;
  /** How many such calls fail. */
  readonly times?: number;
  readonly error?: Error;
}

/** A driver that fails when told to, and copies values as a real one does. */
export interface FaultyDriver extends StorageDriver {
  /** Lets calls fail from now on. */
  inject(fault: Fault): void;
  /** Forgets all faults. */
  heal(): void;
  /** What was opened so far is dead, as when the page is gone; what is opened later works. */
  crash(): void;
  /** Calls so far, the failed ones included. */
  readonly calls: Record<StorageCall, number>;
  /** The batches that were applied. */
  readonly batches: (readonly StorageOperation[])[];
}

export const outage = new StorageError('storage_lost', 'The test took the storage away.');

/** @param slow Whether each call takes a turn of the event loop. */
export function faultyDriver(inner: StorageDriver = memoryDriver(), slow = false): FaultyDriver {
  const calls = { write: 0, getMany: 0, list: 0, keys: 0 };
  const batches: (readonly StorageOperation[])[] = [];
  let faults: (Fault & { left: number; skip: number })[] = [];
  let life = 0;

  const faultFor = (call: StorageCall) => {
    calls[call]++;
    const fault = faults.find((candidate) => candidate.call === call);
    if (!fault) return undefined;
    if (fault.skip > 0) {
      fault.skip--;
      return undefined;
    }
    fault.left--;
    if (fault.left === 0) faults = faults.filter((other) => other !== fault);
    return fault;
  };

  const wrap = (storage: Storage, born: number): Storage => {
    const perform = async <T>(call: StorageCall, run: () => Promise<T>): Promise<T> => {
      if (born !== life) throw outage;
      const fault = faultFor(call);
      if (slow) await new Promise((resolve) => setTimeout(resolve));
      if (fault?.when === 'before') throw fault.error ?? outage;
      const result = await run();
      if (fault) throw fault.error ?? outage;
      return result;
    };
    return {
      getMany: (store, keys) =>
        perform('getMany', async () => structuredClone(await storage.getMany(store, keys))),
      list: (store, range) =>
        perform('list', async () => structuredClone(await storage.list(store, range))),
      keys: (store, prefix) => perform('keys', () => storage.keys(store, prefix)),
      write: (operations, durability) =>
        perform('write', async () => {
          const copies = Array.from(operations, (operation) => structuredClone(operation));
          await storage.write(copies, durability);
          batches.push(copies);
        }),
      close: () => storage.close(),
    };
  };

  return {
    kind: 'faulty',
    calls,
    batches,
    open: async (name, events) => wrap(await inner.open(name, events), life),
    inject: (fault) =>
      void faults.push({ ...fault, left: fault.times ?? 1, skip: fault.after ?? 0 }),
    heal: () => {
      faults = [];
    },
    crash: () => {
      life++;
      faults = [];
    },
  };
}
