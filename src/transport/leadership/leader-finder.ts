import { asCairnError } from '../../errors/as-cairn-error.ts';
import type { CairnError } from '../../errors/cairn-error.ts';
import { StorageError } from '../../errors/storage-error.ts';
import type { Route, RouteEvents } from '../channel/route.ts';
import type { Platform } from '../platform/platform.ts';
import { type Announcement, Announcements, type Leader, PROTOCOL } from '../tabs/announcements.ts';
import { tabRoute } from '../tabs/tab-route.ts';
import type { LeaderEngine, Leadership, LeadershipMember } from './leadership.ts';
import { Presence } from './presence.ts';

/** Whoever leads, has been silent already, and does not say so for this long when asked is frozen, and replaced. */
const ANNOUNCEMENT_MS = 1000;

/**
 * As above, for whoever has not waited yet: after a reload the old page's lock takes half a second to go, and a leader
 * that was silent for less than two seconds does not know that it may have been replaced.
 */
const FIRST_ANNOUNCEMENT_MS = 5000;

/** So often it is asked within that time: a question may get lost, or its answer. */
const QUESTIONS = 4;

/** What comes of looking for a leader. */
export interface FinderEvents {
  /** There is one: this makes the way to it. */
  readonly found: (make: (events: RouteEvents) => Promise<Route>) => void;
  /** It is gone; `cause` where it broke down. */
  readonly gone: (cause: CairnError | undefined) => void;
  /** There can be none. */
  readonly failed: (error: CairnError) => void;
}

/** Finds the engine that leads: that of this page, or that of another tab, which announces itself. */
export class LeaderFinder implements LeadershipMember {
  readonly client: string;
  readonly #database: string;
  readonly #seat: Leadership;
  readonly #platform: Platform;
  readonly #events: FinderEvents;
  readonly #presence: Presence;
  /** Resolves when this client shows. Locks are given in the order they are asked for: this one before the lead. */
  #present = Promise.resolve();
  #announcements: Announcements | undefined;
  /** Of another tab; `undefined` while this page leads or nobody is known to. */
  #leader: Leader | undefined;
  /** The highest epoch that was heard of. */
  #epoch = 0;
  /** Whether this page's own engine leads. */
  #leads = false;
  #cancelWait: (() => void) | undefined;
  /** Whether somebody has said since it is asked that an engine is being begun. */
  #beginning = false;

  constructor(
    database: string,
    client: string,
    seat: Leadership,
    platform: Platform,
    events: FinderEvents,
  ) {
    this.client = client;
    this.#database = database;
    this.#seat = seat;
    this.#platform = platform;
    this.#events = events;
    this.#presence = new Presence(database, client, platform.locks);
  }

  /** @param shared Whether other tabs may lead. */
  begin(shared: boolean): void {
    if (shared) this.#appear();
    this.#seat.enter(this);
    if (shared && !this.#leads) this.#ask(FIRST_ANNOUNCEMENT_MS);
  }

  /**
   * The leader does not answer, or did not let this client in: finds out whether there is another.
   *
   * @param heard Whether it was heard just now.
   */
  doubt(heard = false): void {
    if (this.#leads) return;
    this.#leader = undefined;
    this.#ask(heard ? FIRST_ANNOUNCEMENT_MS : ANNOUNCEMENT_MS);
  }

  /** The engine has answered, or what it broke down over is known. */
  confirm(): void {
    if (this.#leads) this.#seat.confirm();
  }

  /**
   * The page may not come back: gives the lead away. It must not listen either: Chromium throws a page out of the
   * back/forward cache for which a message arrives.
   */
  rest(abandon: boolean): void {
    this.end();
    this.#leads = false;
    this.#leader = undefined;
    this.#seat.release(abandon);
  }

  /** The page is back. */
  wake(): void {
    this.#appear();
    this.#seat.stand();
    this.#ask(FIRST_ANNOUNCEMENT_MS);
  }

  async leave(): Promise<void> {
    this.end();
    await this.#seat.leave(this);
  }

  /** Looks no more. */
  end(): void {
    this.#stopWaiting();
    this.#announcements?.close();
    this.#announcements = undefined;
    this.#presence.end();
  }

  leads(host: LeaderEngine): void {
    this.#stopWaiting();
    this.#leads = true;
    this.#leader = undefined;
    this.#events.found((events) => host.join(this.client, events));
  }

  deposed(cause: CairnError | undefined): void {
    this.#events.gone(cause);
    this.#leads = false;
    this.#ask(FIRST_ANNOUNCEMENT_MS);
  }

  failed(error: CairnError): void {
    this.#events.failed(error);
  }

  /** Listens to other tabs, and shows them that this client lives. */
  #appear(): void {
    const { broadcast } = this.#platform;
    this.#announcements ??=
      broadcast && new Announcements(this.#database, broadcast, (said) => this.#hear(said));
    this.#present = this.#presence.begin();
    this.#present.catch((error: unknown) => this.#events.failed(asCairnError(error)));
  }

  #ask(ms: number, questions = QUESTIONS): void {
    this.#stopWaiting();
    if (questions === QUESTIONS) this.#beginning = false;
    this.#announcements?.say({ type: 'who' });
    this.#cancelWait = this.#platform.clock.after(ms / QUESTIONS, () => {
      // An engine that is being begun may take its time; whether it can be is told.
      if (this.#leads || this.#leader || this.#seat.hosts) return;
      if (questions > 1) return this.#ask(ms, questions - 1);
      if (!this.#platform.broadcast) return this.#events.failed(busy(this.#database));
      // Two that take the lead from each other while they open their storage would never come to an end.
      if (!this.#beginning) this.#seat.steal();
      this.#ask(FIRST_ANNOUNCEMENT_MS);
    });
  }

  #stopWaiting(): void {
    this.#cancelWait?.();
    this.#cancelWait = undefined;
  }

  #hear(said: Announcement): void {
    if (said.type === 'begin') this.#beginning = true;
    else if (said.type === 'who' && this.#seat.hosts && !this.#leads)
      this.#announcements?.say({ type: 'begin' });
    if (said.type !== 'lead') return;
    const { epoch = this.#epoch } = said;
    if (epoch < this.#epoch) return;
    this.#epoch = epoch;
    if (said.protocol === PROTOCOL) this.#meet(said);
    else if (said.protocol > PROTOCOL) this.#events.failed(tooOld(this.#database));
    else if (said.protocol < PROTOCOL) this.#seat.steal();
  }

  #meet(said: Leader): void {
    // An own engine that is not the leader any more is told by its storage.
    if (this.#leads || this.#leader?.leader === said.leader) return;
    this.#stopWaiting();
    this.#leader = said;
    const { broadcast, newClient, clock, switchboard } = this.#platform;
    const announcements = this.#announcements;
    if (!broadcast || !announcements) return;
    const channel = `cairn:${this.#database}:${newClient()}`;
    const { client } = this;
    this.#events.found(async (events) => {
      // Whoever lets it in waits for its end by the same lock.
      await this.#present;
      const options = { client, channel, broadcast, announcements, clock, switchboard };
      return tabRoute(said, options, events);
    });
  }
}

function busy(place: string): StorageError {
  return new StorageError(
    'database_busy',
    `Database "${place}" is open elsewhere: in another tab, or through another door. Close it there first.`,
    { place },
  );
}

function tooOld(place: string): StorageError {
  return new StorageError(
    'format_newer',
    `Database "${place}" is open in a tab with a newer version of cairndb. Reload this page.`,
    { place },
  );
}
