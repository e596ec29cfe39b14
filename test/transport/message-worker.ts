import { hostFileCodec } from '../../src/engine/host/file-worker-host.ts';
import { serve } from '../../src/engine/host/worker-host.ts';

/** The script of a worker: the engine, the codec of files, or none. */
type Script = 'engine' | 'files' | 'nothing';

/** A worker with fault injection; its script is behind a MessageChannel. */
export class MessageWorker extends EventTarget {
  /** Messages of the page, while the worker is dead. */
  readonly unanswered: unknown[] = [];
  terminated = false;
  readonly #page: MessagePort;
  readonly #script: MessagePort;
  #silent: boolean;
  /** Messages queued while the script is blocked. */
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

  /** Blocks the script, as a long computation does. */
  block(): void {
    this.#waiting = [];
  }

  /** Unblocks the script and delivers the queued messages. */
  unblock(): void {
    const waiting = this.#waiting ?? [];
    this.#waiting = undefined;
    for (const send of waiting) send();
  }

  /** Makes it dead: it receives and sends nothing, like a worker out of memory. */
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
