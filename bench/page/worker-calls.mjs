/** Calls to a worker, one message each: what a small application writes itself. */

/**
 * @param {Worker} worker
 * @returns {(operation: string, ...given: any[]) => Promise<any>}
 */
export function connectWorker(worker) {
  /** @type {Map<number, { resolve: (result: any) => void, reject: (error: Error) => void }>} */
  const waiting = new Map();
  let lastId = 0;
  worker.onmessage = ({ data: { id, result, error } }) => {
    const call = waiting.get(id);
    waiting.delete(id);
    if (error === undefined) call?.resolve(result);
    else call?.reject(new Error(error));
  };
  worker.onerror = ({ message }) => {
    for (const { reject } of waiting.values()) reject(new Error(message || 'The worker failed.'));
    waiting.clear();
  };
  return (operation, ...given) =>
    new Promise((resolve, reject) => {
      const id = ++lastId;
      waiting.set(id, { resolve, reject });
      worker.postMessage({ id, operation, given });
    });
}

/**
 * In the worker: answers calls with what these functions give.
 *
 * @param {Record<string, (...given: any[]) => unknown>} operations
 */
export function answerCalls(operations) {
  globalThis.onmessage = async ({ data: { id, operation, given } }) => {
    try {
      const result = await /** @type {any} */ (operations[operation])(...given);
      globalThis.postMessage({ id, result });
    } catch (error) {
      globalThis.postMessage({ id, error: String(error) });
    }
  };
}
