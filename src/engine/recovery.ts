import { Backoff, type Clock } from '../async/clock.ts';
import { asCairnError, loadFailed, mayPass } from '../errors/errors.ts';
import { neededParts } from '../protocol/operations.ts';
import type { PartName } from '../protocol/parts.ts';
import type { RecoveryKey, RecoveryRecord, RecoveryRecords } from '../protocol/recovery-records.ts';
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
import { ReplayOrder } from './replay-order.ts';

/** A session that replays changes. */
export interface RecoverySession {
  readonly client: string;
  openAll(opened: OpenedHandles): void;
  reapply(change: AcknowledgedChange, order: ReplayOrder): Promise<void>;
  settleAll(): void;
  fallBehind(changes: readonly AcknowledgedChange[], failures: ReadonlyMap<number, unknown>): void;
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
  /** The id of the database. */
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
  readonly session: RecoverySession;
  readonly changes: readonly AcknowledgedChange[];
  readonly applied: (failures: ReadonlyMap<number, unknown>) => void;
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
  readonly #context: RecoveryContext;
  readonly #contributions: Contribution[] = [];
  /** Clients whose replay the recovery still waits for. */
  #missing: Set<string> | undefined;
  #lastTurn = 0;
  /** Recovery records that are applied and not removed yet. */
  readonly #applied: RecoveryKey[] = [];
  readonly #backoff = new Backoff(RETRY_MS);
  #retrying = false;
  #complete: () => void = () => undefined;

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
  }

  /**
   * Applies the changes that a client knows to be acknowledged and not to be durable. To be called
   * once by each client, before any request.
   *
   * @returns the errors, by index among the changes.
   */
  replay(
    session: RecoverySession,
    changes: readonly AcknowledgedChange[],
  ): Promise<ReadonlyMap<number, unknown>> {
    return new Promise((resolve) => {
      this.#contributions.push({ session, changes, applied: resolve });
      this.#missing?.delete(session.client);
      if (this.isOver) void this.#apply();
      else if (this.#missing?.size === 0) this.#complete();
    });
  }

  /** Applies the records of pages that have ended, once the recovery is over. */
  async recover(): Promise<void> {
    await this.over;
    await this.#applyRecords();
  }

  async #run(
    begun: Promise<void>,
    expected: Promise<ReadonlySet<string>> | undefined,
  ): Promise<void> {
    const { batchNumbers, events } = this.#context;
    try {
      await begun;
      await this.#gather(await expected);
    } catch (error) {
      events.reportError(asCairnError(error));
    }
    // Together with the replays: changes of both may alternate.
    await this.#applyRecords();
    try {
      await batchNumbers.startAfter(this.#lastTurn);
    } catch (error) {
      events.reportError(asCairnError(error));
    }
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
    const { records, collections, events, databaseId } = this.#context;
    try {
      const id = await databaseId();
      for (const record of await records.list()) {
        const { client, ending, database = id } = record;
        if (database === id) this.#add(record);
        // Of a database that was deleted since.
        else this.#applied.push([client, ending]);
      }
      await this.#apply();
      const applied = this.#applied.splice(0);
      if (applied.length > 0) {
        await collections.save();
        await records.forget(applied);
      }
      if (!this.#retrying) this.#backoff.succeeded();
    } catch (error) {
      events.reportError(asCairnError(error));
      this.#retry();
    }
  }

  #add({ client, ending, opened, changes }: RecoveryRecord): void {
    const { standIn, events } = this.#context;
    const session = standIn(client);
    session.openAll(opened);
    this.#contributions.push({
      session,
      changes,
      applied: (failures) => {
        session.leave();
        const settings = new Map(opened);
        for (const [index, error] of failures) {
          const handle = changes[index]?.request.handle as number;
          events.reportError(asCairnError(error), settings.get(handle)?.name);
        }
        // Where storage or the network fails for now, the record stays.
        if ([...failures.values()].some(mayPass)) this.#retry();
        else this.#applied.push([client, ending]);
      },
    });
  }

  #retry(): void {
    if (this.#retrying) return;
    this.#retrying = true;
    this.#context.clock.after(this.#backoff.failed(), () => {
      this.#retrying = false;
      void this.recover();
    });
  }

  /** Applies all contributions so far, in the original order of their changes. */
  async #apply(): Promise<void> {
    const contributions = this.#contributions.splice(0);
    const all = contributions.flatMap(({ session, changes }) =>
      changes.map((change, index) => ({ session, change, index })),
    );
    // Stable: the changes of one turn are one client's, and in their order.
    all.sort((a, b) => a.change.turn - b.change.turn);
    for (const { change } of all)
      if (change.turn < UNACKNOWLEDGED) this.#lastTurn = Math.max(this.#lastTurn, change.turn);
    // Before the first, as changes enter the queues in their order. Without it what follows waits
    // as well: it may have been made on top.
    const [first, missing] = await this.#loadParts(all.map(({ change }) => change.request));
    const order = new ReplayOrder();
    const failures = new Map(contributions.map(({ session }) => [session, new Map()]));
    await Promise.all(
      all.map(async ({ session, change, index }, at) => {
        try {
          if (at >= first) throw missing;
          await session.reapply(change, order);
        } catch (error) {
          failures.get(session)?.set(index, error);
        }
      }),
    );
    for (const { session, changes, applied } of contributions) {
      session.settleAll();
      const own = failures.get(session) as Map<number, unknown>;
      session.fallBehind(changes, own);
      applied(own);
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
    }).then(() => loadFailed(new Error(`It did not come within ${CODE_MS / 1000} s.`)));
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

  /** @param last The last number of a replay. */
  async startAfter(last: number): Promise<void> {
    this.#from = Math.max(last, (await this.#storage.epoch()) * EPOCH_SPAN);
  }
}
