import type { Broadcast } from '../platform.ts';

/** A channel between two tabs. Once it is closed, what is still answered goes nowhere, and is no error. */
export class PairChannel implements Broadcast {
  readonly #channel: Broadcast;
  #closed = false;

  constructor(name: string, broadcast: (name: string) => Broadcast) {
    this.#channel = broadcast(name);
  }

  postMessage(message: unknown): void {
    if (!this.#closed) this.#channel.postMessage(message);
  }

  addEventListener(...args: Parameters<Broadcast['addEventListener']>): void {
    this.#channel.addEventListener(...args);
  }

  removeEventListener(...args: Parameters<Broadcast['removeEventListener']>): void {
    this.#channel.removeEventListener(...args);
  }

  close(): void {
    this.#closed = true;
    this.#channel.close();
  }
}
