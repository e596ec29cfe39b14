import { asCairnError } from '../../errors/as-cairn-error.ts';
import type { CairnError } from '../../errors/cairn-error.ts';
import { StorageError } from '../../errors/storage-error.ts';
import { UNACKNOWLEDGED } from '../protocol/idempotency-key.ts';
import type { AcknowledgedChange, OpenedHandles } from '../protocol/requests.ts';
import { Backoff } from '../scheduling/backoff.ts';
import type { Clock } from '../scheduling/clock.ts';

/** What a page left in storage when it ended: changes that it did not know to be saved. */
export interface RecoveryRecord {
  readonly client: string;
  /** How many times the page had ended or gone to rest. */
  readonly ending: number;
  /** The collections that its requests are about. */
  readonly opened: OpenedHandles;
  readonly changes: readonly AcknowledgedChange[];
}

/** Which of the things that pages left. */
export type RecoveryKey = readonly [client: string, ending: number];

/** A session, as far as a handover needs it. */
export interface RecoverySession {
  readonly client: string;
  openAll(opened: OpenedHandles): void;
  reapply(change: AcknowledgedChange): Promise<void>;
  settleAll(): void;
  leave(): void;
}

/** What a handover needs of the engine. */
export interface RecoveryHost {
  readonly clock: Clock;
  /** A session for a client that is gone. */
  readonly standIn: (client: string) => RecoverySession;
  /** Resolves when what is stored may be read. */
  readonly begun: Promise<void>;
  /** What pages left behind. */
  readonly left: () => Promise<readonly RecoveryRecord[]>;
  /** Saves everything, and removes these of the things that pages left behind. */
  readonly forget: (left: readonly RecoveryKey[]) => Promise<void>;
  readonly report: (error: CairnError, collection?: string) => void;
  /** It is over; turns of what is asked from now on are higher than this. */
  readonly over: (lastTurn: number) => Promise<void>;
}

/** Clients that are frozen hand on later, or never. Failover has half a second in all. */
const PATIENCE_MS = 200;

/** The first wait before storage is asked again for what pages left behind. */
const RETRY_MS = 1000;

/** What one client hands on. */
interface Contribution {
  readonly session: RecoverySession;
  readonly changes: readonly AcknowledgedChange[];
  readonly made: (failures: ReadonlyMap<number, unknown>) => void;
}

/**
 * The beginning of an engine that takes the place of another: what clients were told of and that one had not
 * saved is made again, in the order it was made in, before anything else is answered. Each change carries its
 * client's number, so that what was saved all the same is not made twice.
 */
export class Recovery {
  /** Settles when requests may be answered; never rejects. */
  readonly over: Promise<void>;
  /** Whether it is over. */
  isOver = false;
  readonly #host: RecoveryHost;
  readonly #contributions: Contribution[] = [];
  #missing: Set<string> | undefined;
  #lastTurn = 0;
  /** What pages left behind and is made. */
  readonly #done: RecoveryKey[] = [];
  readonly #backoff = new Backoff(RETRY_MS);
  #retrying = false;
  #complete: () => void = () => undefined;

  /**
   * @param expected Clients that may have something to hand on, once known.
   */
  constructor(host: RecoveryHost, expected: Promise<ReadonlySet<string>> | undefined) {
    this.#host = host;
    this.over = this.#run(expected).finally(() => {
      this.isOver = true;
      // Of those that came while the others were being made.
      void this.#make();
    });
  }

  /**
   * Makes changes again that a client was told of. To be called once by each, before anything else.
   *
   * @returns what went wrong, by its place among the changes.
   */
  replay(
    session: RecoverySession,
    changes: readonly AcknowledgedChange[],
  ): Promise<ReadonlyMap<number, unknown>> {
    return new Promise((resolve) => {
      this.#contributions.push({ session, changes, made: resolve });
      this.#missing?.delete(session.client);
      if (this.isOver) void this.#make();
      else if (this.#missing?.size === 0) this.#complete();
    });
  }

  /** Makes what pages left behind, after the others if that is not over yet. */
  async recover(): Promise<void> {
    await this.over;
    await this.#recover();
  }

  async #recover(): Promise<void> {
    try {
      for (const page of await this.#host.left()) this.#add(page);
      await this.#make();
      const done = this.#done.splice(0);
      if (done.length > 0) await this.#host.forget(done);
      if (!this.#retrying) this.#backoff.succeeded();
    } catch (error) {
      this.#host.report(asCairnError(error));
      this.#retry();
    }
  }

  #add({ client, ending, opened, changes }: RecoveryRecord): void {
    const session = this.#host.standIn(client);
    session.openAll(opened);
    this.#contributions.push({
      session,
      changes,
      made: (failures) => {
        session.leave();
        const settings = new Map(opened);
        for (const [place, error] of failures) {
          const handle = changes[place]?.request.handle as number;
          this.#host.report(asCairnError(error), settings.get(handle)?.name);
        }
        // Where storage fails for now, nothing may be forgotten.
        if ([...failures.values()].some((error) => error instanceof StorageError)) this.#retry();
        else this.#done.push([client, ending]);
      },
    });
  }

  #retry(): void {
    if (this.#retrying) return;
    this.#retrying = true;
    this.#host.clock.after(this.#backoff.failed(), () => {
      this.#retrying = false;
      void this.recover();
    });
  }

  async #run(expected: Promise<ReadonlySet<string>> | undefined): Promise<void> {
    try {
      await this.#host.begun;
      await this.#gather(await expected);
    } catch (error) {
      this.#host.report(asCairnError(error));
    }
    // In one go with what was handed on: some of it may have been made in between.
    await this.#recover();
    try {
      await this.#host.over(this.#lastTurn);
    } catch (error) {
      this.#host.report(asCairnError(error));
    }
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
      changes.map((change, place) => ({ session, change, place })),
    );
    // Those of one turn are one client's, and in their order.
    all.sort((a, b) => a.change.turn - b.change.turn);
    for (const { change } of all)
      if (change.turn < UNACKNOWLEDGED) this.#lastTurn = Math.max(this.#lastTurn, change.turn);
    const failures = new Map(contributions.map(({ session }) => [session, new Map()]));
    await Promise.all(
      all.map(async ({ session, change, place }) => {
        try {
          await session.reapply(change);
        } catch (error) {
          failures.get(session)?.set(place, error);
        }
      }),
    );
    for (const { session, made } of contributions) {
      session.settleAll();
      made(failures.get(session) as Map<number, unknown>);
    }
  }
}
