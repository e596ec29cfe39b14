import type { RecoveryRecord } from '../../engine/recovery/recovery.ts';
import { asCairnError } from '../../errors/as-cairn-error.ts';
import type { CairnError } from '../../errors/cairn-error.ts';
import type { Route, RouteEvents } from '../channel/route.ts';
import type { Platform } from '../platform/platform.ts';
import type { PendingTerm, TermEvents } from '../thread/engine-host.ts';
import { LeaderElection, livingClients } from './leader-election.ts';

/** An engine of this page that leads. */
export interface LeaderEngine {
  /** Whether other tabs can use it; not where storage turned out to be in memory. */
  readonly shared: boolean;
  /** A way to it for one of the page's clients. */
  join(client: string, events: RouteEvents): Promise<Route>;
  /** Ends it, after all that it is writing. */
  stop(): Promise<void>;
  /** Makes what pages left behind: those of the journals, and what else there is. */
  takeOver(journals: readonly RecoveryRecord[]): void;
  /** Lets no other tab in any more, and tells none that anything is saved: another may lead. */
  retire(): void;
  /** Ends it at once. */
  abandon(): void;
}

/** What a host tells of itself. */
export interface LeaderEngineEvents extends TermEvents {
  /** It broke down; another may be begun in its place. */
  readonly lost: (error: CairnError) => void;
}

/** Begins an engine. */
export type StartEngine = (lead: PendingTerm, events: LeaderEngineEvents) => Promise<LeaderEngine>;

/** A client that takes the way to this engine while it leads. */
export interface LeadershipMember {
  readonly client: string;
  /** The engine of this page leads. */
  leads(host: LeaderEngine): void;
  /** It does not, any more; `cause` where it broke down. */
  deposed(cause: CairnError | undefined): void;
  /** It can never be had. */
  failed(error: CairnError): void;
}

/**
 * So many times in a row an engine is begun anew that breaks down before it has answered anything; more often than
 * anything is asked again, so that what ends every engine is given up alone.
 */
const ATTEMPTS = 5;

/**
 * A page's place among those that would lead a database: it queues for the lead, and while it has it an engine runs
 * here. All clients of the page that can share an engine share a seat.
 */
export class Leadership {
  readonly #name: string;
  readonly #platform: Platform;
  #begin: StartEngine;
  readonly #shared: boolean;
  readonly #candidacy: LeaderElection;
  readonly #members = new Set<LeadershipMember>();
  /** The engine, or what it is becoming; `undefined` while another leads. */
  #hosting: Promise<LeaderEngine> | undefined;
  /** Whether the last member has left and the engine is ending. */
  #stopping = false;
  #attempts = 0;
  #stopListening: () => void = () => undefined;

  /** @param shared Whether other tabs may lead the database; else it is this seat's own. */
  constructor(name: string, shared: boolean, platform: Platform, begin: StartEngine) {
    this.#name = name;
    this.#shared = shared;
    this.#platform = platform;
    this.#begin = begin;
    this.#candidacy = new LeaderElection(name, platform, {
      granted: (stolen) => this.#host(stolen),
      lost: () => this.#depose(undefined),
      failed: (error) => this.#fail(asCairnError(error)),
    });
  }

  /** While nobody has a database open, the next door's options are those that count. */
  renew(begin: StartEngine): void {
    if (this.#members.size === 0) this.#begin = begin;
  }

  /** Whether an engine runs here, or is being begun. */
  get hosts(): boolean {
    return this.#hosting !== undefined;
  }

  enter(member: LeadershipMember): void {
    if (this.#members.size === 0 && this.#shared)
      this.#stopListening = this.#platform.journals.onWritten(this.#name, () => this.#takeOver());
    this.#members.add(member);
    this.#hosting?.then(
      (host) => this.#members.has(member) && member.leads(host),
      // All members are told.
      () => undefined,
    );
    this.stand();
  }

  /** Queues for the lead. */
  stand(): void {
    // Two engines over one storage would damage it.
    if (this.#stopping) return;
    if (this.#shared && !this.#candidacy.holds) this.#candidacy.stand();
    else if (!this.#hosting) this.#host(false);
  }

  /** The engine has answered, or what it broke down over is known: that it breaks down again is something new. */
  confirm(): void {
    this.#attempts = 0;
  }

  /** Takes the lead from a leader that is silent. */
  steal(): void {
    if (this.#shared) this.#candidacy.steal();
  }

  /** The last that leaves ends the engine. */
  async leave(member: LeadershipMember): Promise<void> {
    this.#members.delete(member);
    if (this.#members.size > 0) return;
    this.#stopListening();
    const hosting = this.#hosting;
    this.#hosting = undefined;
    this.#stopping = true;
    try {
      const host = await hosting?.catch(() => undefined);
      await host?.stop();
    } finally {
      this.#stopping = false;
      // Not before: until then the engine writes.
      if (this.#members.size === 0) this.#candidacy.withdraw();
      else this.stand();
    }
  }

  /** Gives the lead away at once, as the page may not come back. */
  release(abandon: boolean): void {
    const hosting = this.#hosting;
    if (abandon) this.#hosting = undefined;
    // Whoever waited for it is told.
    hosting?.then((host) => (abandon ? host.abandon() : host.retire())).catch(() => undefined);
    this.#candidacy.withdraw();
  }

  /** A page has ended that wrote a journal. */
  #takeOver(): void {
    this.#hosting
      ?.then((host) => host.takeOver(this.#platform.journals.read(this.#name)))
      // Whoever waits for the engine is told.
      .catch(() => undefined);
  }

  #host(stolen: boolean): void {
    const { locks, locked, newClient, journals, switchboard } = this.#platform;
    let current = true;
    const isCurrent = () => current && this.#hosting === hosting;
    const expected = this.#shared
      ? livingClients(this.#name, locks)
      : Promise.resolve(Array.from(this.#members, ({ client }) => client));
    const events: LeaderEngineEvents = {
      taken: () => {
        if (isCurrent()) this.#depose(undefined);
      },
      lost: (error) => {
        if (!isCurrent()) return;
        current = false;
        this.#replace(hosting, error);
      },
      forgotten: (left) => journals.forget(this.#name, left),
      bring: (address, port) => switchboard?.bring(address, port),
    };
    // Later in this turn: the first look into localStorage takes milliseconds, in which the engine is started.
    const left = Promise.resolve().then(() => (this.#shared ? journals.read(this.#name) : []));
    const hosting: Promise<LeaderEngine> = this.#begin(
      { leader: newClient(), locked, stolen, left, expected },
      events,
    );
    this.#hosting = hosting;
    hosting.then(
      (host) => {
        if (this.#hosting !== hosting) return host.abandon();
        // Every tab has a memory of its own.
        if (!host.shared) this.#candidacy.withdraw();
        for (const member of this.#members) member.leads(host);
      },
      (error: unknown) => {
        if (this.#hosting !== hosting) return;
        this.#hosting = undefined;
        this.#candidacy.withdraw();
        this.#fail(asCairnError(error));
      },
    );
  }

  /** Begins another engine in the place of one that broke down. */
  #replace(broken: Promise<LeaderEngine>, cause: CairnError): void {
    this.#hosting = undefined;
    broken.then((host) => host.abandon()).catch(() => undefined);
    for (const member of this.#members) member.deposed(cause);
    if (!this.#shared || ++this.#attempts > ATTEMPTS) {
      this.#candidacy.withdraw();
      this.#fail(cause);
    } else if (this.#candidacy.holds) this.#host(false);
  }

  /** Another leads now. */
  #depose(cause: CairnError | undefined): void {
    const hosting = this.#hosting;
    this.#hosting = undefined;
    hosting?.then((host) => host.abandon()).catch(() => undefined);
    this.#candidacy.withdraw();
    for (const member of this.#members) member.deposed(cause);
    this.stand();
  }

  #fail(error: CairnError): void {
    for (const member of this.#members) member.failed(error);
  }
}
