import { Backoff, type Clock } from '../async/clock.ts';
import { asCairnError, isPassing, loadFailed, mayPass } from '../errors/errors.ts';
import { neededParts } from '../protocol/operations.ts';
import type { PartName } from '../protocol/parts.ts';
import type { RecoveryKey, RecoveryRecords } from '../protocol/recovery-records.ts';
import {
  type AcknowledgedChange,
  type OpenedHandles,
  type Request,
  UNACKNOWLEDGED,
} from '../protocol/requests.ts';
import type { FencedStorage } from '../storage/fenced-storage.ts';
import { EPOCH_SPAN } from '../storage/log/manifest.ts';
import type { EngineEventHub } from './engine-events.ts';
import type { OpenCollections } from './open-collections.ts';
import { parts } from './parts.ts';
import { type Overdue, OverdueChanges, ReplayOrder } from './replay-order.ts';

/** A session that replays changes. */
export interface RecoverySession {
  readonly client: string;
  /** None, once it has left. */
  readonly handles: { readonly all: { readonly size: number } };
  openAll(opened: OpenedHandles): void;
  follow(changes: readonly AcknowledgedChange[]): readonly unknown[];
  reapply(change: AcknowledgedChange, order: ReplayOrder): Promise<void>;
  settleAll(): void;
  namesOf(request: Request): readonly string[];
  leave(): void;
}

/** The parts of an engine that its recovery works with. */
interface RecoveryContext {
  readonly clock: Clock;
  readonly records: RecoveryRecords;
  readonly collections: OpenCollections;
  readonly batchNumbers: BatchNumbers;
  readonly events: EngineEventHub;
  /** Begins a session for a client that has ended. */
  readonly standIn: (client: string) => RecoverySession;
  readonly databaseId: () => Promise<string>;
}

/**
 * Frozen clients replay later, or never: a recovery waits for them only so long. A failover has
 * half a second in all.
 */
const PATIENCE_MS = 200;

/** The first wait before storage is read again for recovery records. */
const RETRY_MS = 1000;

/** A client whose changes wait longer for their code replays them later. */
const CODE_MS = 5000;

/** The replay of one client. */
interface Contribution {
  /** By index among the changes. */
  readonly failures: Map<number, unknown>;
  readonly missed: Overdue;
  /** The session; all records are one. */
  readonly by: unknown;
  readonly session: RecoverySession;
  readonly changes: readonly AcknowledgedChange[];
  readonly applied: (failures: ReadonlyMap<number, unknown>) => void;
  /** Why none of them can be applied for now. */
  readonly why?: unknown;
}

/**
 * The recovery phase of an engine. Before it answers a request, it applies the changes that an
 * earlier leader had acknowledged and not saved: those that clients replay, and those that pages
 * recorded when they ended. It applies them in their original order; idempotency keys keep a change
 * that was saved from being applied twice. docs/decisions/017-tabs.md has the reasons.
 */
export class Recovery {
  /** Settles when requests may be answered; never rejects. */
  readonly over: Promise<void>;
  isOver = false;
  readonly overdue = new OverdueChanges();
  readonly #context: RecoveryContext;
  readonly #contributions: Contribution[] = [];
  /** Clients whose replay the recovery still waits for. */
  #missing: Set<string> | undefined;
  readonly #backoff = new Backoff(RETRY_MS);
  #retrying = false;
  /** Settles when the records are applied that were there at the last request to do so. */
  #recovering: Promise<void>;
  #complete: () => void = () => undefined;
  readonly #report = (error: unknown, collection?: string) =>
    this.#context.events.reportError(asCairnError(error), collection);

  /**
   * @param begun Resolves when storage may be read.
   * @param expected Clients that may have changes to replay, once known.
   */
  constructor(
    context: RecoveryContext,
    begun: Promise<void>,
    expected: Promise<ReadonlySet<string>> | undefined,
  ) {
    this.#context = context;
    this.over = this.#run(begun, expected).finally(() => {
      this.isOver = true;
      // Replays that came while the others were being applied.
      void this.#apply();
    });
    this.#recovering = this.over;
  }

  /**
   * Applies the changes that a client knows to be acknowledged and not to be durable. To be called
   * once by each client, before any request.
   *
   * @param why Why none of them can be applied for now.
   * @returns the errors, by index among the changes.
   */
  replay(
    session: RecoverySession,
    changes: readonly AcknowledgedChange[],
    why?: unknown,
  ): Promise<ReadonlyMap<number, unknown>> {
    return new Promise((resolve) => {
      this.#contributions.push({
        by: session,
        session,
        changes,
        why,
        failures: new Map(),
        missed: new Map(),
        applied: resolve,
      });
      this.#missing?.delete(session.client);
      if (this.isOver) void this.#apply();
      else if (this.#missing?.size === 0) this.#complete();
    });
  }

  /** A client has ended. What it could not replay may be in a record. */
  leave(session: RecoverySession): void {
    if (this.overdue.has(session)) void this.recover().then(() => this.overdue.note(session));
  }

  /**
   * Applies the records of pages that have ended, once the recovery is over. One time after the
   * other: the first removes what a second would apply again.
   */
  recover(): Promise<void> {
    this.#recovering = this.#recovering.then(() => this.#applyRecords());
    return this.#recovering;
  }

  async #run(
    begun: Promise<void>,
    expected: Promise<ReadonlySet<string>> | undefined,
  ): Promise<void> {
    await begun.then(async () => this.#gather(await expected)).catch(this.#report);
    // Together with the replays: changes of both may alternate.
    await this.#applyRecords();
    await this.#context.batchNumbers.startEpoch().catch(this.#report);
  }

  /** Waits for the clients that are expected, but not for long. */
  async #gather(expected: ReadonlySet<string> | undefined): Promise<void> {
    const missing = new Set(expected);
    for (const { session } of this.#contributions) missing.delete(session.client);
    if (missing.size === 0) return;
    this.#missing = missing;
    await new Promise<void>((resolve) => {
      const cancel = this.#context.clock.after(PATIENCE_MS, resolve);
      this.#complete = () => {
        cancel();
        resolve();
      };
    });
  }

  async #applyRecords(): Promise<void> {
    const { records, collections, databaseId, standIn } = this.#context;
    const missed: Overdue = new Map();
    const applied: RecoveryKey[] = [];
    let mustRetry = false;
    try {
      const id = await databaseId();
      for (const { client, ending, opened, changes, database = id } of await records.list()) {
        // Of a database that was deleted since.
        if (database !== id) {
          applied.push([client, ending]);
          continue;
        }
        const session = standIn(client);
        session.openAll(opened);
        this.#contributions.push({
          by: records,
          session,
          changes,
          failures: new Map(),
          missed,
          applied: (failures) => {
            for (const [index, error] of failures) {
              const { request } = changes[index] as AcknowledgedChange;
              this.#report(error, session.namesOf(request)[0]);
            }
            session.leave();
            // Where storage or the network fails for now, the record stays.
            if ([...failures.values()].some(mayPass)) mustRetry = true;
            else applied.push([client, ending]);
          },
        });
      }
      await this.#apply();
      // A page that has returned replays what it had left, and has removed its record.
      this.overdue.note(records, missed);
      if (applied.length > 0) {
        await collections.save();
        await records.forget(applied);
      }
    } catch (error) {
      this.#report(error);
      mustRetry = true;
    }
    if (!mustRetry) this.#backoff.succeeded();
    else if (!this.#retrying) {
      this.#retrying = true;
      const again = () => {
        this.#retrying = false;
        void this.recover();
      };
      // In the background: storage may have been closed, and no process waits for records.
      this.#context.clock.after(this.#backoff.failed(), again, true);
    }
  }

  /** Applies all contributions so far, in the original order of their changes. */
  async #apply(): Promise<void> {
    const contributions = this.#contributions.splice(0);
    const all = contributions.flatMap((contribution) =>
      contribution.changes.map((change, index) => ({ contribution, change, index })),
    );
    // Stable: the changes of one turn are one client's, and in their order.
    all.sort((a, b) => a.change.turn - b.change.turn);
    for (const { change } of all)
      if (change.turn < UNACKNOWLEDGED) this.#context.batchNumbers.startAfter(change.turn);
    // Before the first, as changes enter the queues in their order. Without it what follows waits
    // as well: it may have been made on top.
    const [first, missing] = await this.#loadParts(all.map(({ change }) => change.request));
    // What was changed before its collection was renamed is changed there. Until it enters the
    // queue, it may be renamed again.
    for (let ahead: unknown[]; ; await Promise.all(ahead)) {
      ahead = contributions.flatMap(({ session, changes }) => session.follow(changes));
      if (ahead.length === 0) break;
    }
    const order = new ReplayOrder();
    const beside = new Set(contributions.map(({ by }) => by));
    await Promise.all(
      all.map(async ({ contribution, change, index }, at) => {
        const { session, why, failures, missed } = contribution;
        const { request, turn } = change;
        const names = session.namesOf(request);
        try {
          if (why || at >= first) throw why ?? missing;
          this.overdue.check(names, turn, beside);
          await session.reapply(change, order);
        } catch (error) {
          failures.set(index, error);
          if (isPassing(error))
            for (const name of names) if (!missed.has(name)) missed.set(name, [turn, error]);
        }
      }),
    );
    for (const { by, session, failures, missed, applied } of contributions) {
      session.settleAll();
      this.overdue.note(by, missed);
      // It has left meanwhile: nobody would replay them to this engine.
      if (session.handles.all.size === 0) this.leave(session);
      applied(failures);
    }
  }

  /**
   * Loads the code of changes. All clients wait for it.
   *
   * @returns the index of the first whose code is missing, and why.
   */
  async #loadParts(changes: readonly Request[]): Promise<[first: number, why?: unknown]> {
    let cancel = (): void => undefined;
    const late = new Promise<void>((resolve) => {
      cancel = this.#context.clock.after(CODE_MS, resolve);
    }).then(() => loadFailed(new Error('too late')));
    let index = 0;
    try {
      for (; index < changes.length; index++)
        for (const part of partsOf(changes[index] as Request))
          await Promise.race([parts.load(part), late]);
      return [index];
    } catch (error) {
      return [index, error];
    } finally {
      cancel();
    }
  }
}

function partsOf(change: Request): readonly PartName[] {
  if (change.op === 'commit') return ['transactions', ...change.changes.flatMap(partsOf)];
  return change.op.startsWith('kv') ? ['updates'] : neededParts(change);
}

/** Numbers the batches of all leaders, so that a replay keeps their order. */
export class BatchNumbers {
  readonly #storage: FencedStorage;
  #allocated = 0;
  /** The numbers of earlier leaders are lower. */
  #from = 0;

  constructor(storage: FencedStorage) {
    this.#storage = storage;
  }

  /**
   * Must be called as a batch begins. The returned function gives its number, once earlier leaders'
   * numbers are known.
   */
  allocate(): () => number {
    this.#storage.touch();
    const number = ++this.#allocated;
    return () => this.#from + number;
  }

  /** Gives higher numbers than this one, which a replayed batch has. */
  startAfter(number: number): void {
    this.#from = Math.max(this.#from, number);
  }

  async startEpoch(): Promise<void> {
    this.startAfter((await this.#storage.epoch()) * EPOCH_SPAN);
  }
}
