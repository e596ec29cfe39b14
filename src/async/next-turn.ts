/**
 * Resolves in a later task, after whatever waits already had its turn. Not `setTimeout`: browsers
 * hold nested timers back by 4 ms each (HTML standard), and fake timers of tests stop it. Not
 * `scheduler.yield`: it goes on ahead of other tasks, and so keeps timers and messages of the page
 * waiting for as long as there is work.
 */
export function nextTurn(): Promise<void> {
  // jsdom has no MessageChannel. There a microtask will do: no user waits for the page.
  if (!globalThis.MessageChannel) return Promise.resolve();
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      port1.close();
      resolve();
    };
    port2.postMessage(undefined);
  });
}

/**
 * Calls a function in a microtask. Not `queueMicrotask`: Jest's fake timers replace it, and each
 * call of a database would wait until the test advances them.
 */
export function inMicrotask(call: () => void): void {
  Promise.resolve().then(call);
}
