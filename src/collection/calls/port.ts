import type { LiveNews } from '../../engine/protocol/live-protocol.ts';
import type { Request } from '../../engine/protocol/requests.ts';
import type { CollectionSettings } from '../../engine/protocol/settings.ts';
import type { Started } from '../../transport/channel/channel.ts';
import type { Link } from '../../transport/channel/link.ts';
import type { CallOrder } from './call-order.ts';
import type { Ask } from './exchange.ts';

/** What a port tells its door. */
export interface PortEvents {
  readonly opened: () => void;
  /** The collection is being dropped; its name is free. */
  readonly dropped: () => void;
  /** Why no call may begin any more. */
  readonly refusal: () => Error | undefined;
}

/** What exchanges are run over. */
export interface CallPort {
  readonly turns: CallOrder;
  /** How the engine was started. */
  readonly started: Started | undefined;
  send(request: Ask): Promise<unknown>;
  /** Takes back what of an aborted call is not sent yet. */
  withdraw(call: number, reason: unknown): void;
}

/** One handle's end of the link: adds its number to what it sends. {@link run} and `runNow` run exchanges over it. */
export class Port implements CallPort {
  /** Shared by all handles of the door to this collection. */
  readonly turns: CallOrder;
  readonly events: PortEvents;
  readonly #link: Link;
  readonly #handle: number;

  constructor(link: Link, settings: CollectionSettings, turns: CallOrder, events: PortEvents) {
    this.turns = turns;
    this.events = events;
    this.#link = link;
    this.#handle = link.takeHandle();
    // Every later call rejects with the same error when the collection cannot be opened.
    const open = this.#addressed({ op: 'open', settings });
    turns.enter(() => link.send(open, true)).then(events.opened, () => undefined);
  }

  get started(): Started | undefined {
    return this.#link.channel?.place.started;
  }

  /** Hears what the engine tells of a live query; the number stands for it in requests. */
  hear(tell: (signal: LiveNews) => void): number {
    return this.#link.hear(tell);
  }

  unhear(live: number): void {
    this.#link.unhear(live);
  }

  send(request: Ask): Promise<unknown> {
    return this.#link.send(this.#addressed(request));
  }

  /** Takes back what of an aborted call is not sent yet. */
  withdraw(call: number, reason: unknown): void {
    this.#link.withdraw(call, reason);
  }

  /** Executes a request without waiting; only where the engine runs in this thread. */
  sendNow(request: Ask): unknown {
    return this.#link.sendNow(this.#addressed(request));
  }

  #addressed(request: Ask): Request {
    return { ...request, handle: this.#handle } as Request;
  }
}
