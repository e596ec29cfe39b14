import { isAbortSignal } from '../../api/options/option-checks.ts';
import { copy } from '../../codec/capture.ts';
import { isList, isPlainObject } from '../../codec/kinds.ts';
import { KeyError, ValueError } from '../../errors/errors.ts';
import type { Key } from '../../protocol/key-value-protocol.ts';

/** Copies an argument of a call that waits. What cannot be copied the call judges itself. */
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

/** Errors whose stack already has a caller's frames: one error may reject many calls. */
const framed = new WeakSet<object>();

/**
 * Adds the caller's frames to the stack of a rejected call: the stack of an error from the engine
 * ends inside Cairn. Must be called by the async function whose promise the caller awaits: engines
 * that trace `await` (V8: https://v8.dev/docs/stack-trace-api#async-stack-traces) then know the
 * caller, at no cost before the failure.
 */
export function withCallerFrames(error: unknown): unknown {
  if (!(error instanceof Error) || framed.has(error)) return error;
  framed.add(error);
  const lines = (new Error().stack ?? '').split('\n');
  // V8: a header, this function, the method that rejects, then the callers.
  const callers = lines.slice(lines[0]?.startsWith('Error') ? 3 : 2).filter(Boolean);
  const last = callers.at(-1);
  if (last !== undefined && !error.stack?.includes(last))
    error.stack = [error.stack, ...callers].join('\n');
  return error;
}

/** @throws {ValueError} unless it is a non-empty string. */
export function checkId(id: unknown, place = '_id'): asserts id is string {
  if (typeof id === 'string' && id !== '') return;
  throw new ValueError('id_invalid', `${place} must be a non-empty string.`, { place });
}

/** Checks and copies ids. @throws {ValueError} `id_invalid` */
export function checkIds(ids: unknown): string[] {
  if (!isList(ids))
    throw new ValueError('id_invalid', 'getMany takes an array of ids.', { place: 'ids' });
  const list = [...ids] as string[];
  for (const [index, id] of list.entries()) checkId(id, `ids[${index}]`);
  return list;
}

/** Checks the type of a key, and copies it; the engine parses it. */
export function checkKey(key: unknown): Key {
  const segments: unknown[] = isList(key) ? [...key] : [key];
  if (segments.every((segment) => typeof segment === 'string' || typeof segment === 'number')) {
    return Array.isArray(key) ? (segments as Key) : (key as Key);
  }
  throw new KeyError('key_invalid', 'A key is a string, a number, or an array of them.', {
    place: 'key',
  });
}
