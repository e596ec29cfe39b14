import type { Broadcast } from '../platform/platform.ts';

/** Number of what tabs say to each other. Tabs of different numbers do not understand each other. */
export const PROTOCOL = 1;

/** What tabs say to all tabs of a database. */
export type Announcement =
  /** Who leads? */
  | { readonly type: 'who' }
  /** I do. */
  | ({ readonly type: 'lead' } & Leader)
  /** I am about to: my engine is being begun, which takes its time where storage is slow. */
  | { readonly type: 'begin' }
  /** Let me in, on a channel of our own. */
  | {
      readonly type: 'join';
      readonly leader: string;
      readonly client: string;
      readonly channel: string;
    };

/** Whoever leads. */
export interface Leader {
  readonly leader: string;
  /** Leaders that come later have higher ones; `undefined` where storage fails, of which those it lets in are told. */
  readonly epoch: number | undefined;
  readonly protocol: number;
}

/** The channel that all tabs of a database hear. */
export class Announcements {
  readonly #channel: Broadcast;
  readonly #listener: (event: Event) => void;

  constructor(
    database: string,
    broadcast: (name: string) => Broadcast,
    hear: (announcement: Announcement) => void,
  ) {
    this.#channel = broadcast(`cairn:${database}`);
    // Whoever else is of this origin may say anything here; an error in a worker counts as its end.
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
