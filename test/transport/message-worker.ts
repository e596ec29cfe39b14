import { serve } from '../../src/transport/worker/worker-host.ts';

/** A worker as a page sees it, that the test can spoil; the engine is behind a MessageChannel. */
export class MessageWorker extends EventTarget {
  /** What the page sent, while nobody answers. */
  readonly unanswered: unknown[] = [];
  terminated = false;
  readonly #page: MessagePort;
  readonly #engine: MessagePort;
  #silent: boolean;

  /** @param script What runs inside: the engine, or nothing. */
  constructor(script: 'engine' | 'nothing' = 'engine') {
    super();
    const { port1, port2 } = new MessageChannel();
    this.#page = port1;
    this.#engine = port2;
    this.#silent = script === 'nothing';
    if (script === 'engine') serve(port2);
    port1.onmessage = ({ data }) => {
      if (!this.#silent) this.dispatchEvent(new MessageEvent('message', { data }));
    };
    port2.start();
  }

  postMessage(message: unknown, transfer: Transferable[] = []): void {
    if (this.#silent) this.unanswered.push(message);
    else this.#page.postMessage(message, transfer as never);
  }

  terminate(): void {
    this.terminated = true;
    this.#page.close();
    this.#engine.close();
  }

  /** From now on it neither hears nor answers, as a worker that has run out of memory. */
  fallSilent(): void {
    this.#silent = true;
  }

  /** Fires an `error` event, as an uncaught error in the worker does. */
  fail(message: string): void {
    this.dispatchEvent(Object.assign(new Event('error', { cancelable: true }), { message }));
  }

  get asWorker(): Worker {
    return this as unknown as Worker;
  }
}
