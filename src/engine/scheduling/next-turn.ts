/**
 * Resolves in a later task, after whatever waits already had its turn. Not `setTimeout`: browsers hold
 * nested timers back by 4 ms each (HTML standard). Not `scheduler.yield`: it goes on ahead of other tasks,
 * and so keeps timers and messages of the page waiting for as long as there is work.
 */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      port1.close();
      resolve();
    };
    port2.postMessage(undefined);
  });
}
