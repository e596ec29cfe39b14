/**
 * Calls a function in a microtask. Not `queueMicrotask`: Jest's fake timers replace it, and each
 * call of a database would wait until the test advances them.
 */
export function inMicrotask(call: () => void): void {
  Promise.resolve().then(call);
}
