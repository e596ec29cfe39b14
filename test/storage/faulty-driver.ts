import { StorageError } from '../../src/errors/errors.ts';
import type { Storage, StorageDriver, StorageOperation } from '../../src/storage/drivers/driver.ts';
import { memoryDriver } from '../../src/storage/drivers/memory-driver.ts';

export type StorageCall = 'write' | 'getMany' | 'list' | 'keys';

/** Before: the call has no effect. After: it takes effect, and its answer is lost. */
export type FaultMoment = 'before' | 'after';

interface Fault {
  readonly call: StorageCall;
  readonly when: FaultMoment;
  /** How many such calls succeed first. */
  readonly after?: number;
  /** How many such calls fail. */
  readonly times?: number;
  readonly error?: Error;
}

/** The failure of one call of any kind. */
export interface Cut {
  /** How many calls succeed first. */
  readonly after: number;
  readonly when: FaultMoment;
  /** Whether all open connections die with it, as in a crash of the page. */
  readonly dies: boolean;
}

/** A driver with fault injection; it copies values as a real one does. */
export interface FaultyDriver extends StorageDriver {
  /** Makes calls fail from now on. */
  inject(fault: Fault): void;
  /** Makes a single call fail, counted from now on. */
  cut(cut: Cut): void;
  /** Whether the cut has happened. */
  readonly wasCut: boolean;
  /** Runs `act` before a call, after `after` others from now on. */
  interrupt(after: number, act: () => void): void;
  /** Cancels all injected faults. */
  heal(): void;
  /** Kills all open connections, as a crash of the page does; later ones work. */
  crash(): void;
  /** Calls so far, including failed ones. */
  readonly calls: Record<StorageCall, number>;
  /** The same, in order. */
  readonly log: readonly StorageCall[];
  /** Calls in flight. */
  readonly underWay: number;
  /** The highest number of writes in flight at the same time. */
  readonly writesAtOnce: number;
  /** The batches that were applied. */
  readonly batches: (readonly StorageOperation[])[];
}

export const outage = new StorageError('storage_lost', 'The test took the storage away.');

/**
 * @param slow Whether each call takes a turn of the event loop.
 * @param copies Whether values are copied, as a real driver does.
 */
export function faultyDriver(
  inner: StorageDriver = memoryDriver(),
  slow = false,
  copies = true,
): FaultyDriver {
  const passed = <T>(value: T): T => (copies ? structuredClone(value) : value);
  const calls = { write: 0, getMany: 0, list: 0, keys: 0 };
  const log: StorageCall[] = [];
  const batches: (readonly StorageOperation[])[] = [];
  let faults: (Fault & { left: number; skip: number })[] = [];
  let cut: (Cut & { left: number }) | undefined;
  let life = 0;
  let underWay = 0;
  let writes = 0;
  let writesAtOnce = 0;

  let interruption: { left: number; readonly act: () => void } | undefined;

  /** The cut, if it is due at this call. */
  const cutNow = () => (cut && cut.left-- === 0 ? cut : undefined);

  const faultFor = (call: StorageCall) => {
    calls[call]++;
    log.push(call);
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
      underWay++;
      if (call === 'write') writesAtOnce = Math.max(writesAtOnce, ++writes);
      try {
        return await answer(call, run);
      } finally {
        underWay--;
        if (call === 'write') writes--;
      }
    };
    const answer = async <T>(call: StorageCall, run: () => Promise<T>): Promise<T> => {
      if (born !== life) throw outage;
      const fault = faultFor(call);
      const cutHere = cutNow();
      /** Of this connection: a crash may have ended it meanwhile. */
      const die = () => {
        if (cutHere?.dies && born === life) life++;
      };
      if (interruption && interruption.left-- === 0) interruption.act();
      if (slow) await new Promise((resolve) => setTimeout(resolve));
      if (cutHere?.when === 'before') die();
      if (fault?.when === 'before') throw fault.error ?? outage;
      if (cutHere?.when === 'before') throw outage;
      const result = await run();
      die();
      if (fault) throw fault.error ?? outage;
      if (cutHere) throw outage;
      return result;
    };
    return {
      getMany: (store, keys) =>
        perform('getMany', async () => passed(await storage.getMany(store, keys))),
      list: (store, range) => perform('list', async () => passed(await storage.list(store, range))),
      keys: (store, prefix) => perform('keys', () => storage.keys(store, prefix)),
      write: (operations, durability) =>
        perform('write', async () => {
          const batch = Array.from(operations, passed);
          await storage.write(batch, durability);
          batches.push(batch);
        }),
      close: () => storage.close(),
    };
  };

  return {
    kind: 'faulty',
    calls,
    log,
    batches,
    open: async (name, events) => wrap(await inner.open(name, events), life),
    inject: (fault) =>
      void faults.push({ ...fault, left: fault.times ?? 1, skip: fault.after ?? 0 }),
    cut: (asked) => {
      cut = { ...asked, left: asked.after };
    },
    interrupt: (after, act) => {
      interruption = { left: after, act };
    },
    get underWay() {
      return underWay;
    },
    get writesAtOnce() {
      return writesAtOnce;
    },
    get wasCut() {
      return cut !== undefined && cut.left < 0;
    },
    heal: () => {
      faults = [];
      cut = interruption = undefined;
    },
    crash: () => {
      life++;
      faults = [];
      cut = interruption = undefined;
    },
  };
}

/** A driver with one database, whatever its name: a crashed client keeps the lock of its own. */
export function oneDatabase(driver: StorageDriver): StorageDriver {
  return { ...driver, open: (_, ...others) => driver.open('one', ...others) };
}

/**
 * Crashes a page, at its cut if that has happened. Storage works again behind it.
 *
 * @param close Closes what is left of the page.
 * @returns whether it was cut
 */
export async function crashPage(
  driver: FaultyDriver,
  close: () => Promise<unknown>,
): Promise<boolean> {
  const { wasCut } = driver;
  driver.crash();
  // A page that is gone saves nothing when it is closed.
  driver.inject({ call: 'write', when: 'before', times: Number.POSITIVE_INFINITY });
  await close().catch(() => undefined);
  driver.heal();
  return wasCut;
}
