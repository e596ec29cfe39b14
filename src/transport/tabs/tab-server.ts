import { expose } from 'comlink';
import type { Engine } from '../../engine/engine.ts';
import type { Admit } from '../../storage/encryption/key-proof.ts';
import { whenGone } from '../leadership/presence.ts';
import type { Broadcast, EnginePlatform } from '../platform/platform.ts';
import { READY } from '../wire/ready.ts';
import { remoteSession, type SessionApi } from '../wire/session-api.ts';
import { EVENT } from '../wire/wire-protocol.ts';
import { type Announcement, Announcements, PROTOCOL } from './announcements.ts';
import { PairChannel } from './pair-channel.ts';
import type { TabApi, TabEvent } from './tab-route.ts';

/** After this time without an epoch from storage the leader announces that it is starting. */
const SOON_MS = 100;

/** A client in another tab. */
interface Follower {
  readonly client: string;
  readonly leave: () => void;
}

/** Serves clients in other tabs with the leader's engine. */
export class TabServer {
  readonly #engine: Engine;
  readonly #database: string;
  readonly #leader: string;
  readonly #platform: EnginePlatform;
  readonly #broadcast: (name: string) => Broadcast;
  readonly #announcements: Announcements;
  readonly #bring: (address: string, port: MessagePort) => void;
  readonly #admit: Admit | undefined;
  /** Those who have not proven their key yet as well. */
  readonly #followers = new Set<Follower>();
  #closed = false;

  /**
   * @param leader Unique name of this term of leadership.
   * @param bring Brings a port to another tab.
   * @param admit Serves who has the key; left out where all may be served.
   */
  constructor(
    engine: Engine,
    database: string,
    leader: string,
    platform: EnginePlatform,
    broadcast: (name: string) => Broadcast,
    bring: (address: string, port: MessagePort) => void,
    admit: Admit | undefined,
  ) {
    this.#engine = engine;
    this.#database = database;
    this.#leader = leader;
    this.#platform = platform;
    this.#broadcast = broadcast;
    this.#bring = bring;
    this.#admit = admit;
    this.#announcements = new Announcements(database, broadcast, (announcement) =>
      this.#receive(announcement),
    );
    this.#announce();
  }

  /** Whether other tabs use the engine. */
  get isFollowed(): boolean {
    return this.#followers.size > 0;
  }

  close(): void {
    this.#closed = true;
    this.#announcements.close();
    for (const { leave } of this.#followers) leave();
  }

  #receive(announcement: Announcement): void {
    if (announcement.type === 'who') this.#announce();
    else if (announcement.type === 'join' && announcement.leader === this.#leader)
      this.#accept(announcement.client, announcement.channel);
  }

  #announce(): void {
    let isKnown = false;
    const announce = (epoch?: number) => {
      isKnown = true;
      if (this.#closed) return;
      this.#announcements.say({ type: 'lead', leader: this.#leader, epoch, protocol: PROTOCOL });
    };
    // If storage fails, followers join nevertheless: they get the error, and do not steal the lock in vain.
    this.#engine.epoch.then(announce, () => announce());
    this.#platform.clock.after(SOON_MS, () => {
      if (!isKnown && !this.#closed) this.#announcements.say({ type: 'begin' });
    });
  }

  #accept(client: string, name: string): void {
    const channel = new PairChannel(name, this.#broadcast);
    let session: SessionApi | undefined;
    const stopWaiting = whenGone(this.#database, client, this.#platform.locks, () => {
      follower.leave();
      this.#engine.takeOver();
    });
    const follower: Follower = {
      client,
      leave: () => {
        this.#followers.delete(follower);
        stopWaiting();
        session?.leave();
        channel.close();
      },
    };
    this.#followers.add(follower);
    const serve = () => {
      // It may have left while its key was checked.
      if (!this.#followers.has(follower)) return;
      for (const other of this.#followers)
        if (other !== follower && other.client === client) other.leave();
      session = remoteSession(
        this.#engine,
        client,
        (events, number) => channel.postMessage({ [EVENT]: events, number } satisfies TabEvent),
        true,
      );
      expose(
        {
          ...session,
          leave: follower.leave,
          bringPort: (address) => {
            const { port1, port2 } = this.#platform.newPorts();
            channel.offer(port1);
            this.#bring(address, port2);
          },
        } satisfies TabApi,
        channel,
      );
      channel.postMessage(READY);
    };
    if (this.#admit) this.#admit(channel, [this.#leader, client, name], serve);
    else serve();
  }
}
