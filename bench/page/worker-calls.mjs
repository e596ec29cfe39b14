/** Calls to a worker, batched per microtask: fast hand-written code. */

/**
 * @typedef {{ id: number, operation: string, given: any[] }} Call
 * @typedef {{ id: number, result?: any, error?: string }} Answer
 */

/**
 * @param {Worker} worker
 * @returns {(operation: string, ...given: any[]) => Promise<any>}
 */
export function connectWorker(worker) {
  /** @type {Map<number, { resolve: (result: any) => void, reject: (error: Error) => void }>} */
  const waiting = new Map();
  let lastId = 0;
  /** @type {Call[]} */
  let gathered = [];
  const post = () => {
    worker.postMessage(gathered);
    gathered = [];
  };
  worker.onmessage = ({ data }) => {
    for (const { id, result, error } of /** @type {Answer[]} */ (data)) {
      const call = waiting.get(id);
      waiting.delete(id);
      if (error === undefined) call?.resolve(result);
      else call?.reject(new Error(error));
    }
  };
  worker.onerror = ({ message }) => {
    for (const { reject } of waiting.values()) reject(new Error(message || 'The worker failed.'));
    waiting.clear();
  };
  return (operation, ...given) =>
    new Promise((resolve, reject) => {
      const id = ++lastId;
      waiting.set(id, { resolve, reject });
      if (gathered.push({ id, operation, given }) === 1) queueMicrotask(post);
    });
}

/**
 * In the worker: answers calls with these functions.
 *
 * @param {Record<string, (...given: any[]) => unknown>} operations
 */
export function answerCalls(operations) {
  const answer = async (/** @type {Call} */ { id, operation, given }) => {
    try {
      return { id, result: await /** @type {any} */ (operations[operation])(...given) };
    } catch (error) {
      return { id, error: String(error) };
    }
  };
  globalThis.onmessage = async ({ data }) => {
    /** @type {Answer[]} */
    const answers = [];
    for (const call of /** @type {Call[]} */ (data)) answers.push(await answer(call));
    globalThis.postMessage(answers);
  };
}
