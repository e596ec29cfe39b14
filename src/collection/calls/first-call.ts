import { copy } from '../../codec/capture.ts';
import { isList, isPlainObject } from '../../codec/kinds.ts';
import { isAbortSignal } from '../options/option-checks.ts';

/**
 * Copies an argument of a call that waits for the runtime to load. Values that cannot be copied, such as functions, stay
 * as they are: the call accepts or refuses them.
 */
export function copyArgument(value: unknown): unknown {
  const copied = tryCopy(value);
  if (copied !== value || !isPlainObject(value) || !Object.values(value).some(isLive))
    return copied;
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, tryCopy(part)]));
}

/** Copies the list alone: `insertMany` copies its documents, slice by slice. */
export function copyList(documents: unknown): unknown {
  return isList(documents) ? [...documents] : documents;
}

/** Whether an option is used by reference: a function, an AbortSignal. */
function isLive(option: unknown): boolean {
  return typeof option === 'function' || isAbortSignal(option);
}

function tryCopy(value: unknown): unknown {
  try {
    return copy(value);
  } catch {
    return value;
  }
}

/** Settles as the promise does, or rejects once the signal aborts. */
export function orAborted<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return promise;
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason);
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}
