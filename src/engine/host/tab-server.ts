import { expose } from 'comlink';
import { type Announcement, Announcements, PROTOCOL } from '../../platform/announcements.ts';
import { lockName } from '../../platform/lock-names.ts';
import { PairChannel } from '../../platform/pair-channel.ts';
import type { Broadcast, EnginePlatform } from '../../platform/platform.ts';
import { whenGone } from '../../platform/presence.ts';
import { READY } from '../../protocol/ready.ts';
import type { TabApi, TabEvent } from '../../protocol/wire-protocol.ts';
import { EVENT, type WireEvent } from '../../protocol/wire-protocol.ts';
import type { Admit } from '../../storage/encryption/encryption-module.ts';
import type { Engine } from '../engine.ts';
import { remoteSession } from './session-api.ts';

/** After this time without an epoch from storage the leader announces that it is starting. */
const SOON_MS = 100;

/** Time for calls in flight when the leader closes: a client that is frozen delays its answers. */
const ANSWER_MS = 1000;

/** A client in another tab. */
interface Follower {
  readonly client: string;
  /** Answers its calls, and makes it look for the next leader. */
  readonly finish: () => void;
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
  /** Called when no follower is left. */
  #allLeft: () => void = () => undefined;

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

  /**
   * Answers the calls in flight, takes no further ones, and waits until the followers have the
   * answers.
   */
  async finish(): Promise<void> {
    this.#end();
    await new Promise<void>((resolve) => {
      const cancel = this.#platform.clock.after(ANSWER_MS, resolve);
      this.#allLeft = () => {
        cancel();
        resolve();
      };
      for (const { finish } of this.#followers) finish();
    });
  }

  close(): void {
    this.#end();
    for (const { leave } of this.#followers) leave();
  }

  /** Accepts nobody any more. */
  #end(): void {
    this.#closed = true;
    this.#announcements.close();
  }

  #receive(announcement: Announcement): void {
    if (announcement.type === 'who') this.#announce();
    else if (announcement.type === 'join' && announcement.leader === this.#leader)
      this.#accept(announcement.client, announcement.channel);
  }

  #announce(): void {
    let isKnown = false;
    const leader = this.#leader;
    const announce = (epoch?: number, lacksKey?: boolean) => {
      isKnown = true;
      if (this.#closed) return;
      this.#announcements.say({ type: 'lead', leader, epoch, protocol: PROTOCOL, lacksKey });
    };
    // If storage fails, followers join nevertheless: they get the error, and do not steal the lock
    // in vain.
    this.#engine.epoch.then(announce, ({ code }) => announce(undefined, code === 'key_missing'));
    this.#platform.clock.after(SOON_MS, () => {
      if (!isKnown && !this.#closed) this.#announcements.say({ type: 'begin' });
    });
  }

  /**
   * Whether locks of older pages are out of sight, that of the leader itself among them: once a
   * user has cleared the site's data, a new worker of Chromium sees none.
   */
  async #seesNoLocks(): Promise<boolean> {
    let isFree = false;
    await this.#platform.locks.request(lockName(this.#database), { ifAvailable: true }, (lock) => {
      isFree = Boolean(lock);
      return undefined;
    });
    return isFree;
  }

  #accept(client: string, name: string): void {
    const channel = new PairChannel(name, this.#broadcast);
    let session: ReturnType<typeof remoteSession> | undefined;
    const { clock, locks } = this.#platform;
    const joined = clock.elapsed();
    const end = () => {
      follower.leave();
      this.#engine.takeOver();
    };
    const stopWaiting = whenGone(this.#database, client, locks, () => {
      if (clock.elapsed() - joined >= SOON_MS) return end();
      // A page that ends refuses the request, and its engine ends as well.
      this.#seesNoLocks().then(
        (seesNone) => seesNone || end(),
        () => undefined,
      );
    });
    const follower: Follower = {
      client,
      // It takes the gap in the numbers for a lost message.
      finish: () => (session ? session.finish(() => tell([], 0)) : follower.leave()),
      leave: () => {
        this.#followers.delete(follower);
        stopWaiting();
        session?.leave();
        channel.close();
        if (!this.isFollowed) this.#allLeft();
      },
    };
    this.#followers.add(follower);
    const tell = (events: readonly WireEvent[], number: number) =>
      channel.postMessage({ [EVENT]: events, number } satisfies TabEvent);
    const serve = () => {
      // It may have left while its key was checked.
      if (!this.#followers.has(follower)) return;
      for (const other of this.#followers)
        if (other !== follower && other.client === client) other.leave();
      session = remoteSession(this.#engine, client, tell, true);
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
