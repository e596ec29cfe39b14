import type { Switchboard } from '../../src/platform/platform.ts';
import type { Owner, World } from './world.ts';

type Listener = (event: { data: unknown }) => void;

/** One end of a pair of ports. */
class SimPort {
  readonly #world: World;
  readonly #listeners = new Set<Listener>();
  /** What has come before anybody listened; `undefined` since somebody does. */
  #early: unknown[] | undefined = [];
  #last = 0;
  #closed = false;
  owner: Owner;
  other: SimPort | undefined;

  constructor(world: World, owner: Owner) {
    this.#world = world;
    this.owner = owner;
  }

  postMessage(message: unknown): void {
    const { other } = this;
    if (this.#closed || !other) return;
    const data = structuredClone(message);
    const { now, random } = this.#world;
    const arrival = Math.max(other.#last, now + random.between(0.1, 3));
    other.#last = arrival;
    // Unlike those of a BroadcastChannel it waits for a page that is frozen, and for one that it is
    // on its way to.
    this.#world.after(arrival - now, other.owner, () => other.#hear(data));
  }

  addEventListener(_type: string, listener: Listener): void {
    this.#listeners.add(listener);
  }

  start(): void {
    const early = this.#early ?? [];
    this.#early = undefined;
    for (const data of early) this.#hear(data);
  }

  close(): void {
    this.#closed = true;
  }

  #hear(data: unknown): void {
    if (this.#closed) return;
    if (this.#early) this.#early.push(data);
    else for (const listener of this.#listeners) listener({ data });
  }
}

/** Brings ports from tab to tab of a browser, mostly. */
export class SimSwitchboard {
  readonly #world: World;
  readonly #waiting = new Map<string, { owner: Owner; brought: (port: MessagePort) => void }>();
  #addresses = 0;
  /** How many ports were brought. */
  brought = 0;

  constructor(world: World) {
    this.#world = world;
  }

  newPorts(owner: Owner): MessageChannel {
    const [port1, port2] = [new SimPort(this.#world, owner), new SimPort(this.#world, owner)];
    port1.other = port2;
    port2.other = port1;
    return { port1, port2 } as unknown as MessageChannel;
  }

  /** The switchboard as one tab has it. */
  of(owner: Owner): Switchboard {
    const { random } = this.#world;
    return {
      open: (opened, brought) => {
        const address = `address ${++this.#addresses}`;
        this.#waiting.set(address, { owner, brought });
        // Some sites forbid it.
        if (random.chance(0.9))
          this.#world.after(random.between(5, 50), owner, () => {
            if (this.#waiting.has(address)) opened(address);
          });
        return () => void this.#waiting.delete(address);
      },
      bring: (address, port) => {
        if (random.chance(0.1)) return;
        const to = this.#waiting.get(address)?.owner;
        this.#world.after(random.between(0.5, 20), to, () => {
          const waiting = this.#waiting.get(address);
          if (!waiting) return;
          this.#waiting.delete(address);
          this.brought++;
          (port as unknown as SimPort).owner = waiting.owner;
          waiting.brought(port);
        });
      },
    };
  }
}
