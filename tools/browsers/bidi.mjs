import WebSocket from 'ws';

/**
 * A WebDriver BiDi session over a bare WebSocket.
 *
 * @typedef {object} BidiSession
 * @property {(method: string, params?: object) => Promise<any>} send
 * @property {(event: string, listener: (params: any) => void) => void} on
 * @property {() => void} end
 */

/**
 * @param {string} url
 * @returns {Promise<BidiSession>}
 */
export async function openBidi(url) {
  const socket = new WebSocket(`${url}/session`, { perMessageDeflate: false });
  /**
   * @type {Map<number, { method: string, resolve: (result: any) => void, reject: (error: Error) =>
   *   void }>}
   */
  const waiting = new Map();
  /** @type {Map<string, ((params: any) => void)[]>} */
  const listeners = new Map();
  let lastId = 0;

  await new Promise((resolve, reject) => {
    socket.once('open', resolve);
    socket.once('error', reject);
  });
  socket.on('message', (data) => {
    const message = JSON.parse(String(data));
    if (message.id == null) {
      for (const listener of listeners.get(message.method) ?? []) listener(message.params);
      return;
    }
    const call = waiting.get(message.id);
    waiting.delete(message.id);
    if (message.type !== 'error') call?.resolve(message.result);
    else call?.reject(new Error(`${call.method}: ${message.error}: ${message.message}`));
  });
  socket.on('error', () => socket.terminate());
  socket.on('close', () => {
    for (const call of waiting.values()) call.reject(new Error(`${call.method}: Firefox is gone`));
    waiting.clear();
  });

  return {
    send: (method, params = {}) =>
      new Promise((resolve, reject) => {
        if (socket.readyState !== WebSocket.OPEN) {
          reject(new Error(`${method}: Firefox is gone`));
          return;
        }
        const id = ++lastId;
        waiting.set(id, { method, resolve, reject });
        socket.send(JSON.stringify({ id, method, params }));
      }),
    on(event, listener) {
      listeners.set(event, [...(listeners.get(event) ?? []), listener]);
    },
    end: () => socket.terminate(),
  };
}
