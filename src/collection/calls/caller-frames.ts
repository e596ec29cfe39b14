/** Errors whose stack already has a caller's frames: one error may reject many calls. */
const framed = new WeakSet<object>();

/**
 * Adds the caller's frames to the stack of a rejected call: the stack of an error from the engine ends inside Cairn.
 * Must be called by the async function whose promise the caller awaits: engines that trace `await` (V8:
 * https://v8.dev/docs/stack-trace-api#async-stack-traces) then know the caller, at no cost before the failure.
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
