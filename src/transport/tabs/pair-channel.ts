import type { Broadcast } from '../platform/platform.ts';

/** The last message that a tab sends by the BroadcastChannel: those that follow come by the port. */
const SWITCH = 'cairn:switch';

/**
 * A channel between two tabs: a BroadcastChannel, which is there at once, until both have an end of a port, which takes half
 * as long. Messages keep their order over the change. Once it is closed, what is still answered goes nowhere, and is
 * no error.
 */
export class PairChannel implements Broadcast {
  readonly #channel: Broadcast;
  readonly #listeners = new Set<(event: Event) => void>();
  /** An end of a port whose other end is on its way to the other tab. */
  #offered: MessagePort | undefined;
  /** What messages are sent by. */
  #port: MessagePort | undefined;
  #closed = false;

  constructor(name: string, broadcast: (name: string) => Broadcast) {
    this.#channel = broadcast(name);
    this.#channel.addEventListener('message', this.#hear);
  }

  postMessage(message: unknown): void {
    if (!this.#closed) (this.#port ?? this.#channel).postMessage(message);
  }

  addEventListener(_type: string, listener: EventListenerOrEventListenerObject): void {
    this.#listeners.add(listener as (event: Event) => void);
  }

  removeEventListener(_type: string, listener: EventListenerOrEventListenerObject): void {
    this.#listeners.delete(listener as (event: Event) => void);
  }

  /** Keeps a port until the other tab uses its other end. */
  offer(port: MessagePort): void {
    this.#offered = port;
  }

  /** Sends by a port from now on, and listens to it once the other tab does so too. */
  use(port: MessagePort): void {
    this.postMessage(SWITCH);
    this.#port = port;
    port.addEventListener('message', this.#hear);
    if (this.#closed) port.close();
  }

  close(): void {
    this.#closed = true;
    this.#channel.close();
    this.#offered?.close();
    this.#port?.close();
  }

  readonly #hear = (event: Event): void => {
    if ((event as MessageEvent).data === SWITCH) {
      if (!this.#port && this.#offered) this.use(this.#offered);
      // Not before: what was sent by the BroadcastChannel comes first.
      this.#port?.start();
    } else for (const listener of this.#listeners) listener(event);
  };
}
