import { copy } from '../../codec/capture.ts';
import { isPlainObject } from '../../codec/kinds.ts';
import { CairnError } from '../../errors/cairn-error.ts';
import type { CallsClass } from './calls.ts';

let loading: Promise<CallsClass> | undefined;
let loaded: CallsClass | undefined;

/** What runs calls, once it is there. */
export function loadedCalls(): CallsClass | undefined {
  return loaded;
}

/**
 * Loads what runs calls, apart from the page's own code: the first call has to wait for the engine anyway.
 * Whoever waits goes on in the order of waiting, and before what finds it loaded.
 *
 * @throws {CairnError} `load_failed`; the next call tries again.
 */
export function loadCalls(): Promise<CallsClass> {
  if (loading) return loading;
  loading = import('./calls.ts').then(({ Calls }) => Calls, loadFailed);
  // Before anybody who waits: reactions to a promise run one after the other.
  loading.then(
    (Calls) => {
      loaded = Calls;
    },
    () => {
      loading = undefined;
    },
  );
  return loading;
}

/** @throws {CairnError} `load_failed` */
export function loadFailed(cause: unknown): never {
  throw new CairnError(
    'load_failed',
    'ServiceWorkerGlobalScope' in globalThis
      ? "A service worker must not load modules with import(), as `cairndb` does: import from 'cairndb/static', which is one file, or bundle the service worker into one."
      : 'A part of Cairn was not loaded: call again once online, or reload.',
    { cause },
  );
}

/** Resolves when no call made so far waits to be loaded. */
export function callsBegun(): Promise<unknown> | undefined {
  return loading?.catch(() => undefined);
}

/** A copy of an argument; what cannot be copied is left for its method to refuse. */
export function kept(value: unknown): unknown {
  try {
    return copy(value);
  } catch {
    return value;
  }
}

/** A copy of options, with functions and signals as they are. */
export function keptOptions(options: unknown): unknown {
  return isPlainObject(options)
    ? Object.fromEntries(Object.entries(options).map(([option, value]) => [option, kept(value)]))
    : options;
}

/** Settles as the promise does, or rejects when the signal is aborted first. */
export function orAborted<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return promise;
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason);
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}
