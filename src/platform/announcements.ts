import type { Broadcast } from './platform.ts';

/**
 * Version of the protocol between tabs. Tabs of different versions do not understand each other.
 */
export const PROTOCOL = 1;

/** A message to all tabs of a database. */
export type Announcement =
  /** Asks who leads. */
  | { readonly type: 'who' }
  /** The sender leads. */
  | ({ readonly type: 'lead' } & Leader)
  /** The sender is starting its engine, which takes long where storage is slow. */
  | { readonly type: 'begin' }
  /** The sender deletes the database with this id; without one, any. */
  | { readonly type: 'destroyed'; readonly database: string | undefined }
  /** A client asks a leader for a session on a channel of its own. */
  | {
      readonly type: 'join';
      readonly leader: string;
      readonly client: string;
      readonly channel: string;
    };

/** A leader, as it announces itself. */
export interface Leader {
  readonly leader: string;
  /**
   * Later leaders have higher epochs; `undefined` where storage fails, which the leader reports to
   * its followers.
   */
  readonly epoch: number | undefined;
  readonly protocol: number;
  /** Whether it has no key for what is stored: who has one takes its place. */
  readonly lacksKey?: boolean | undefined;
}

/** The channel of all tabs of a database. */
export class Announcements {
  readonly #channel: Broadcast;
  readonly #listener: (event: Event) => void;

  constructor(
    database: string,
    broadcast: (name: string) => Broadcast,
    hear: (announcement: Announcement) => void,
  ) {
    this.#channel = broadcast(`cairn:${database}`);
    // Any script of this origin may post anything here, and an exception in a worker would count as
    // its end.
    this.#listener = (event) => hear((event as MessageEvent<Announcement>).data ?? {});
    this.#channel.addEventListener('message', this.#listener as EventListener);
  }

  say(announcement: Announcement): void {
    this.#channel.postMessage(announcement);
  }

  close(): void {
    this.#channel.removeEventListener('message', this.#listener as EventListener);
    this.#channel.close();
  }
}
