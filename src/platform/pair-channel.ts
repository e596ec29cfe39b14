import type { Broadcast } from './platform.ts';

/** The last message on the BroadcastChannel: later ones come by the port. */
const SWITCH = 'cairn:switch';

/**
 * A channel between two tabs: a BroadcastChannel, available at once, until both tabs have an end of
 * a port, which is twice as fast. Messages keep their order across the switch. Messages after
 * `close()` are dropped.
 */
export class PairChannel implements Broadcast {
  readonly #channel: Broadcast;
  readonly #listeners = new Set<(event: Event) => void>();
  /** One end of a port, while its other end travels to the other tab. */
  #offered: MessagePort | undefined;
  /** The port for messages to the other tab. */
  #port: MessagePort | undefined;
  #closed = false;

  constructor(name: string, broadcast: (name: string) => Broadcast) {
    this.#channel = broadcast(name);
    this.#channel.addEventListener('message', this.#receive);
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

  /** Keeps one end of a port until the other tab uses the other. */
  offer(port: MessagePort): void {
    this.#offered = port;
  }

  /** Sends by the port from now on, and listens to it once the other tab has switched too. */
  use(port: MessagePort): void {
    this.postMessage(SWITCH);
    this.#port = port;
    port.addEventListener('message', this.#receive);
    if (this.#closed) port.close();
  }

  close(): void {
    this.#closed = true;
    this.#channel.close();
    this.#offered?.close();
    this.#port?.close();
  }

  readonly #receive = (event: Event): void => {
    if ((event as MessageEvent).data === SWITCH) {
      if (!this.#port && this.#offered) this.use(this.#offered);
      // Only now: messages on the BroadcastChannel come first.
      this.#port?.start();
    } else for (const listener of this.#listeners) listener(event);
  };
}
