import { expose } from 'comlink';
import type { Engine } from '../../engine/engine.ts';
import { whenGone } from '../leadership/presence.ts';
import type { Broadcast, EnginePlatform } from '../platform/platform.ts';
import { remoteSession } from '../wire/session-api.ts';
import { EVENT, READY } from '../wire/wire-protocol.ts';
import { type Announcement, Announcements, PROTOCOL } from './announcements.ts';
import { PairChannel } from './pair-channel.ts';
import type { TabApi, TabEvent } from './tab-route.ts';

/** A leader whose storage takes longer to say which epoch it is says that it is there. */
const SOON_MS = 100;

/** A client in another tab. */
interface Guest {
  readonly leave: () => void;
}

/** Lets clients in other tabs use the engine of this one, which leads. */
export class TabServer {
  readonly #engine: Engine;
  readonly #database: string;
  readonly #leader: string;
  readonly #platform: EnginePlatform;
  readonly #broadcast: (name: string) => Broadcast;
  readonly #announcements: Announcements;
  readonly #bring: (address: string, port: MessagePort) => void;
  readonly #guests = new Map<string, Guest>();
  #closed = false;

  /**
   * @param leader A name for this leadership that no other has.
   * @param bring Brings a port to another tab.
   */
  constructor(
    engine: Engine,
    database: string,
    leader: string,
    platform: EnginePlatform,
    broadcast: (name: string) => Broadcast,
    bring: (address: string, port: MessagePort) => void,
  ) {
    this.#engine = engine;
    this.#database = database;
    this.#leader = leader;
    this.#platform = platform;
    this.#broadcast = broadcast;
    this.#bring = bring;
    this.#announcements = new Announcements(database, broadcast, (said) => this.#hear(said));
    this.#announce();
  }

  close(): void {
    this.#closed = true;
    this.#announcements.close();
    for (const { leave } of this.#guests.values()) leave();
    this.#guests.clear();
  }

  #hear(said: Announcement): void {
    if (said.type === 'who') this.#announce();
    else if (said.type === 'join' && said.leader === this.#leader)
      this.#welcome(said.client, said.channel);
  }

  #announce(): void {
    let isKnown = false;
    const announce = (epoch?: number) => {
      isKnown = true;
      if (this.#closed) return;
      this.#announcements.say({ type: 'lead', leader: this.#leader, epoch, protocol: PROTOCOL });
    };
    // Where it cannot be read others are let in all the same: they are told why, and do not take the lead in vain.
    this.#engine.epoch.then(announce, () => announce());
    this.#platform.clock.after(SOON_MS, () => {
      if (!isKnown && !this.#closed) this.#announcements.say({ type: 'begin' });
    });
  }

  #welcome(client: string, name: string): void {
    this.#guests.get(client)?.leave();
    const channel = new PairChannel(name, this.#broadcast);
    const session = remoteSession(
      this.#engine,
      client,
      (event, told) => channel.postMessage({ [EVENT]: event, told } satisfies TabEvent),
      true,
    );
    const stopWaiting = whenGone(this.#database, client, this.#platform.locks, () => {
      guest.leave();
      this.#engine.takeOver();
    });
    const guest: Guest = {
      leave: () => {
        if (this.#guests.get(client) === guest) this.#guests.delete(client);
        stopWaiting();
        session.leave();
        channel.close();
      },
    };
    this.#guests.set(client, guest);
    expose(
      {
        ...session,
        leave: () => {
          guest.leave();
        },
        bringPort: (address) => {
          const { port1, port2 } = this.#platform.newPorts();
          channel.offer(port1);
          this.#bring(address, port2);
        },
      } satisfies TabApi,
      channel,
    );
    channel.postMessage(READY);
  }
}
