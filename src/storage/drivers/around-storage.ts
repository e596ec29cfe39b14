import { StorageError } from '../../errors/errors.ts';
import type { Storage } from './driver.ts';

/** What an opening passes on. */
export type StorageCalls = Omit<Storage, 'close' | 'writePending'>;

/** Storage with something done around each call. */
export function aroundStorage(
  storage: StorageCalls,
  around: <T>(call: () => Promise<T>) => Promise<T>,
  close: () => Promise<void>,
): Storage {
  const getItem = storage.getItem?.bind(storage);
  return {
    valueLimit: storage.valueLimit,
    getMany: (...given) => around(() => storage.getMany(...given)),
    list: (...given) => around(() => storage.list(...given)),
    keys: (...given) => around(() => storage.keys(...given)),
    getItem: getItem && ((...given) => around(() => getItem(...given))),
    write: (...given) => around(() => storage.write(...given)),
    close,
  };
}

/** Turns errors of this script's class into those of the class of the thread that has loaded it. */
export interface Translator {
  readonly translated: (error: unknown) => unknown;
  readonly translating: <T>(call: () => Promise<T>) => Promise<T>;
}

export function translator(Their: typeof StorageError): Translator {
  const translated = (error: unknown): unknown => {
    if (!(error instanceof StorageError) || error instanceof Their) return error;
    const { code, message, place, cause } = error;
    return new Their(code, message, { place, cause });
  };
  return {
    translated,
    async translating(call) {
      try {
        return await call();
      } catch (error) {
        throw translated(error);
      }
    },
  };
}
