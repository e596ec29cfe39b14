import type { Broadcast } from '../../src/platform/platform.ts';
import type { Owner, World } from './world.ts';

type Listener = (event: { data: unknown }) => void;

interface Channel {
  readonly owner: Owner;
  readonly listeners: Set<Listener>;
  /** When the last message to it arrives: order is kept. */
  last: number;
}

/** Messages between the tabs of a browser. */
export class SimBroadcast {
  readonly #world: World;
  readonly #channels = new Map<string, Set<Channel>>();

  constructor(world: World) {
    this.#world = world;
  }

  /** Channels as one tab makes them. */
  of(owner: Owner): (name: string) => Broadcast {
    return (name) => this.#open(owner, name);
  }

  #open(owner: Owner, name: string): Broadcast {
    const all = this.#channels.get(name) ?? new Set();
    this.#channels.set(name, all);
    const own: Channel = { owner, listeners: new Set(), last: 0 };
    all.add(own);
    return {
      postMessage: (message: unknown) => {
        if (!all.has(own)) throw new Error('The channel is closed.');
        const data = structuredClone(message);
        for (const other of all) if (other !== own) this.#send(all, other, data);
      },
      addEventListener: (_type: string, listener: unknown) =>
        void own.listeners.add(listener as Listener),
      removeEventListener: (_type: string, listener: unknown) =>
        void own.listeners.delete(listener as Listener),
      close: () => void all.delete(own),
    } as unknown as Broadcast;
  }

  #send(all: Set<Channel>, to: Channel, data: unknown): void {
    const { now, random } = this.#world;
    const arrival = Math.max(to.last, now + random.between(0.1, 3));
    to.last = arrival;
    // Some browsers deliver later what came while a page was frozen, others never.
    if (to.owner.frozenUntil > arrival && random.chance(0.5)) return;
    this.#world.after(arrival - now, to.owner, () => {
      if (!all.has(to)) return;
      for (const listener of [...to.listeners]) listener({ data });
    });
  }
}
