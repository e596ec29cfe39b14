import { asCairnError } from '../errors/as-cairn-error.ts';
import type { CairnError } from '../errors/cairn-error.ts';
import type { Clock } from './clock.ts';
import type { AnsweredChange } from './protocol.ts';
import type { CollectionSettings } from './settings.ts';

/** What a page left in storage when it ended: changes that it did not know to be saved. */
export interface LeftBehind {
  readonly client: string;
  /** The collections that its requests are about, by handle. */
  readonly opened: readonly (readonly [handle: number, settings: CollectionSettings])[];
  readonly changes: readonly AnsweredChange[];
}

/** A session, as far as a handover needs it. */
export interface Successor {
  readonly client: string;
  openAll(opened: LeftBehind['opened']): void;
  makeAgain(change: AnsweredChange): Promise<void>;
  settleAll(): void;
  leave(): void;
}

/** What a handover needs of the engine. */
export interface HandoverHost {
  readonly clock: Clock;
  /** A session for a client that is gone. */
  readonly standIn: (client: string) => Successor;
  /** Saves everything, and removes what these clients left behind. */
  readonly forget: (clients: readonly string[]) => Promise<void>;
  readonly report: (error: CairnError) => void;
  /** It is over; turns of what is asked from now on are higher than this. */
  readonly over: (lastTurn: number) => Promise<void>;
}

/** Clients that are frozen hand on later, or never. Failover has half a second in all. */
const PATIENCE_MS = 200;

/** The turn of what nobody has answered: after everything else. */
export const UNANSWERED = Number.MAX_VALUE;

/** What one client hands on. */
interface Contribution {
  readonly session: Successor;
  readonly changes: readonly AnsweredChange[];
  readonly made: (failures: ReadonlyMap<number, unknown>) => void;
}

/**
 * The beginning of an engine that takes the place of another: what clients were told of and that one had not
 * saved is made again, in the order it was made in, before anything else is answered. Each change carries its
 * client's number, so that what was saved all the same is not made twice.
 */
export class Handover {
  /** Settles when requests may be answered; never rejects. */
  readonly over: Promise<void>;
  /** Whether it is over. */
  isOver = false;
  readonly #host: HandoverHost;
  readonly #contributions: Contribution[] = [];
  #missing: Set<string> | undefined;
  #lastTurn = 0;
  #complete: () => void = () => undefined;

  /**
   * @param left What pages left behind.
   * @param expected Clients that may have something to hand on, once known.
   */
  constructor(
    host: HandoverHost,
    left: Promise<readonly LeftBehind[]>,
    expected: Promise<ReadonlySet<string>> | undefined,
  ) {
    this.#host = host;
    this.over = this.#run(left, expected).finally(() => {
      this.isOver = true;
    });
  }

  /**
   * Makes changes again that a client was told of. To be called once by each, before anything else.
   *
   * @returns what went wrong, by the client's numbers.
   */
  handOn(
    session: Successor,
    changes: readonly AnsweredChange[],
  ): Promise<ReadonlyMap<number, unknown>> {
    return new Promise((resolve) => {
      this.#contributions.push({ session, changes, made: resolve });
      this.#missing?.delete(session.client);
      if (this.isOver) void this.#make();
      else if (this.#missing?.size === 0) this.#complete();
    });
  }

  /** Makes what a page left behind that has ended since. */
  async make(page: LeftBehind): Promise<void> {
    await this.over;
    this.#add(page);
    await this.#make();
  }

  #add({ client, opened, changes }: LeftBehind): void {
    const session = this.#host.standIn(client);
    session.openAll(opened);
    this.#contributions.push({
      session,
      changes,
      made: (failures) => {
        session.leave();
        for (const error of failures.values()) this.#host.report(asCairnError(error));
      },
    });
  }

  async #run(
    left: Promise<readonly LeftBehind[]>,
    expected: Promise<ReadonlySet<string>> | undefined,
  ): Promise<void> {
    let pages: readonly LeftBehind[] = [];
    try {
      await this.#gather(await expected);
      pages = await left;
    } catch (error) {
      this.#host.report(asCairnError(error));
    }
    for (const page of pages) this.#add(page);
    await this.#make();
    try {
      await this.#host.over(this.#lastTurn);
    } catch (error) {
      this.#host.report(asCairnError(error));
    }
    if (pages.length > 0) this.#forget(pages.map(({ client }) => client));
  }

  /** Waits for those that are expected, but not for long. */
  async #gather(expected: ReadonlySet<string> | undefined): Promise<void> {
    const missing = new Set(expected);
    for (const { session } of this.#contributions) missing.delete(session.client);
    if (missing.size === 0) return;
    this.#missing = missing;
    await new Promise<void>((resolve) => {
      const cancel = this.#host.clock.after(PATIENCE_MS, resolve);
      this.#complete = () => {
        cancel();
        resolve();
      };
    });
  }

  /** Makes what was handed on, in the order it was first made in. */
  async #make(): Promise<void> {
    const contributions = this.#contributions.splice(0);
    const all = contributions.flatMap(({ session, changes }) =>
      changes.map((change) => ({ session, change })),
    );
    all.sort((a, b) => a.change.turn - b.change.turn || a.change.number - b.change.number);
    for (const { change } of all)
      if (change.turn < UNANSWERED) this.#lastTurn = Math.max(this.#lastTurn, change.turn);
    const failures = new Map(contributions.map(({ session }) => [session, new Map()]));
    await Promise.all(
      all.map(async ({ session, change }) => {
        try {
          await session.makeAgain(change);
        } catch (error) {
          failures.get(session)?.set(change.number, error);
        }
      }),
    );
    for (const { session, made } of contributions) {
      session.settleAll();
      made(failures.get(session) as Map<number, unknown>);
    }
  }

  #forget(clients: readonly string[]): void {
    // What stays is made again by the next leader, and then known to be made.
    this.#host.forget(clients).catch((error: unknown) => this.#host.report(asCairnError(error)));
  }
}
