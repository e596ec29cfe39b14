import { StorageError } from '../../errors/errors.ts';
import type { Storage } from '../drivers/driver.ts';

type Translating = <Arguments extends unknown[], T>(
  call: (...given: Arguments) => Promise<T>,
) => (...given: Arguments) => Promise<T>;

/** Turns errors of this script's class into those of the class of the thread that has loaded it. */
export interface Translator {
  readonly translated: (error: unknown) => unknown;
  readonly translating: Translating;
}

export function translator(Their: typeof StorageError): Translator {
  const translated = (error: unknown): unknown => {
    if (!(error instanceof StorageError) || error instanceof Their) return error;
    const { code, message, place, cause } = error;
    return new Their(code, message, { place, cause });
  };
  const translating: Translating =
    (call) =>
    (...given) =>
      call(...given).catch((error: unknown) => {
        throw translated(error);
      });
  return { translated, translating };
}

export function translatedStorage(storage: Storage, translating: Translating): Storage {
  const getItem = storage.getItem?.bind(storage);
  return {
    valueLimit: storage.valueLimit,
    getMany: translating((...given) => storage.getMany(...given)),
    list: translating((...given) => storage.list(...given)),
    keys: translating((...given) => storage.keys(...given)),
    getItem: getItem && translating(getItem),
    write: translating((...given) => storage.write(...given)),
    close: translating(() => storage.close()),
  };
}
