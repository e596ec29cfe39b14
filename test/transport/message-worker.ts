import { hostFileCodec } from '../../src/transport/file-worker/file-worker-host.ts';
import { serve } from '../../src/transport/worker/worker-host.ts';

/** What runs in a worker: the engine, the codec of files, or nothing. */
type Script = 'engine' | 'files' | 'nothing';

/** A worker as a page sees it, that the test can spoil; its script is behind a MessageChannel. */
export class MessageWorker extends EventTarget {
  /** What the page sent, while nobody answers. */
  readonly unanswered: unknown[] = [];
  terminated = false;
  readonly #page: MessagePort;
  readonly #script: MessagePort;
  #silent: boolean;
  /** What waits for the script, while it is blocked. */
  #waiting: (() => void)[] | undefined;

  constructor(script: Script = 'engine') {
    super();
    const { port1, port2 } = new MessageChannel();
    this.#page = port1;
    this.#script = port2;
    this.#silent = script === 'nothing';
    if (script === 'engine') serve(port2);
    if (script === 'files') hostFileCodec(port2);
    port1.onmessage = ({ data }) => {
      if (!this.#silent) this.dispatchEvent(new MessageEvent('message', { data }));
    };
    port2.start();
  }

  postMessage(message: unknown, transfer: Transferable[] = []): void {
    if (this.#silent) this.unanswered.push(message);
    else if (this.#waiting) this.#waiting.push(() => this.postMessage(message, transfer));
    else this.#page.postMessage(message, transfer as never);
  }

  terminate(): void {
    this.terminated = true;
    this.#page.close();
    this.#script.close();
  }

  /** From now on its script hears nothing, as while it computes without a pause. */
  block(): void {
    this.#waiting = [];
  }

  /** The script hears what was sent meanwhile. */
  unblock(): void {
    const waiting = this.#waiting ?? [];
    this.#waiting = undefined;
    for (const send of waiting) send();
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
