/** @typedef {(method: string, params?: object) => Promise<any>} Send */

/**
 * A CDP session for each worker of a page. @param {import('playwright-core').CDPSession} session
 */
export function workersOf(session) {
  /** @type {Map<number, (result: unknown) => void>} */
  const waiting = new Map();
  let lastId = 0;
  const workers = {
    /** @type {Map<string, Send>} */
    running: new Map(),
    /** Called before the first line of a worker runs. @type {(send: Send) => Promise<void>} */
    started: () => Promise.resolve(),
    /** Begins with the workers that start from now on. */
    attach: () =>
      session.send('Target.setAutoAttach', {
        autoAttach: true,
        waitForDebuggerOnStart: true,
        flatten: false,
      }),
  };
  session.on('Target.receivedMessageFromTarget', ({ message }) => {
    const { id, result } = JSON.parse(message);
    waiting.get(id)?.(result);
    waiting.delete(id);
  });
  session.on('Target.attachedToTarget', async ({ sessionId }) => {
    /** @type {Send} */
    const send = (method, params = {}) =>
      new Promise((resolve, reject) => {
        const id = ++lastId;
        waiting.set(id, resolve);
        const message = JSON.stringify({ id, method, params });
        session.send('Target.sendMessageToTarget', { sessionId, message }).catch(reject);
      });
    workers.running.set(sessionId, send);
    await workers.started(send);
    await send('Runtime.runIfWaitingForDebugger');
  });
  session.on('Target.detachedFromTarget', ({ sessionId }) => workers.running.delete(sessionId));
  return workers;
}
