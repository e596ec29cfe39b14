import { type Coroutine, outcome, run } from '../../async/coroutine.ts';
import type { SerialQueue } from '../../async/serial-queue.ts';
import { isPromise } from '../../codec/kinds.ts';
import { asCairnError, type CairnError, TransactionError } from '../../errors/errors.ts';
import { answerLost, ended, lostMessage, otherVersion } from '../../protocol/collection-errors.ts';
import type { CommitReply, IdempotencyKey, Request } from '../../protocol/requests.ts';
import type { CollectionSettings } from '../../protocol/settings.ts';
import type { CollectionContext } from '../collection-context.ts';
import type { SnapshotHolder } from '../records/open-snapshots.ts';
import { watermarkKey } from '../records/pending-changes.ts';
import type { ReplayOrder } from '../replay-order.ts';
import { atRest } from '../save-schedule.ts';
import { EngineTransaction } from './transaction.ts';

export interface CommittedCollection
  extends Pick<CollectionContext, 'settings' | 'availability' | 'records' | 'saves'> {
  readonly context: CollectionContext;
  readonly queue: SerialQueue;
  giveUpIndex(error: CairnError, declared: CollectionSettings['indexes']): boolean;
  findsNothing(
    change: Request,
    reply: unknown,
  ): change is Request<'update' | 'patch' | 'archive' | 'unarchive'>;
}

/** A handle that a transaction changes something through. */
export interface CommitTarget {
  readonly handle: number;
  readonly collection: CommittedCollection;
  readonly key: IdempotencyKey;
  /** Of the handle. */
  readonly settings: CollectionSettings;
}

/**
 * Commits a transaction: in one turn it compares what was read, and makes the staged changes, all
 * or none. docs/decisions/022-transactions.md has the reasons.
 *
 * @param transaction Left out where this engine has not got it: it was begun in a lost engine.
 * @param mayHang Whether a pattern may have to be compared.
 */
export function commit(
  targets: readonly CommitTarget[],
  transaction: EngineTransaction | undefined,
  mayHang: boolean,
): CommitReply | Promise<CommitReply> {
  const perform = function* (): Coroutine<CommitReply> {
    try {
      for (const { collection } of targets) collection.availability.check();
      if (isApplied(targets)) return 'committed';
      checkPresent(targets);
      if (!transaction) return 'lost';
      if (yield* transaction.isOutdated()) return 'conflict';
      apply(targets, transaction);
      return 'committed';
    } finally {
      transaction?.end();
    }
  };
  const { storage, terminable } = targets[0]?.collection.context ?? {};
  const mustRest = mayHang && terminable && storage;
  return inTurn(targets, mustRest ? () => atRest(storage, perform) : perform);
}

/**
 * Repeats a transaction that an earlier engine has committed: what it had read was compared then.
 * Changes of collections that were dropped since are left out.
 *
 * @throws {CollectionError} `answer_lost`, if it was saved; {TransactionError}
 *   `transaction_conflict`, if it changes a document that is gone: half of it would be left.
 */
export async function recommit(
  targets: readonly CommitTarget[],
  changes: readonly Request[],
  snapshots: SnapshotHolder,
  order: ReplayOrder,
): Promise<void> {
  const collections = targets.map(({ collection }) => collection);
  const perform = () => repeat(targets, changes, snapshots);
  for (;;) {
    try {
      await inTurn(targets, () => order.perform(collections, perform));
      return;
    } catch (cause) {
      const error = asCairnError(cause);
      const isGivenUp = targets.some(({ collection, settings }) =>
        collection.giveUpIndex(error, settings.indexes),
      );
      if (!isGivenUp) throw error;
    }
  }
}

function* repeat(
  targets: readonly CommitTarget[],
  changes: readonly Request[],
  snapshots: SnapshotHolder,
): Coroutine<void> {
  const isDropped = ({ collection, settings: { born } }: CommitTarget) =>
    collection.records.applied.endOf(born)?.to === '';
  const left = targets.filter((target) => !isDropped(target));
  if (left.length === 0) throw ended((targets[0] as CommitTarget).settings.name);
  for (const { collection } of left) collection.availability.check();
  if (isApplied(targets)) throw answerLost((targets[0] as CommitTarget).settings.name);
  checkPresent(left);
  const transaction = new EngineTransaction(snapshots);
  try {
    for (const change of changes) {
      const target = left.find(({ handle }) => handle === change.handle);
      if (!target) continue;
      const reply = yield* outcome(transaction.execute(target.collection.context, change));
      if (target.collection.findsNothing(change, reply)) throw unrepeatable(target);
    }
    apply(left, transaction);
    // No save releases what went with its collection.
    for (const { collection, key } of targets.filter(isDropped))
      collection.context.events.hub.release([[watermarkKey(key), key.number, 0]]);
  } finally {
    transaction.end();
  }
}

function unrepeatable({ collection }: CommitTarget): TransactionError {
  const { name: place } = collection.settings;
  return new TransactionError('transaction_conflict', lostMessage('A transaction', place), {
    place,
  });
}

function apply(targets: readonly CommitTarget[], transaction: EngineTransaction): void {
  transaction.apply();
  for (const { collection, key } of targets) collection.records.applied.note(key);
  if (targets.length < 2) return;
  // Before any save can begin: all of it is stored, or nothing.
  targets[0]?.collection.context.links.link(targets.map(({ collection }) => collection.saves));
}

/** @throws {CollectionError} `schema_newer`, `schema_older`; of a collection that has ended. */
function checkPresent(targets: readonly CommitTarget[]): void {
  for (const { collection, settings } of targets) {
    const { log, applied } = collection.records;
    const { name, version, born } = settings;
    const end = applied.endOf(born);
    if (end) throw ended(name, end.to);
    if (log.version !== version) throw otherVersion(name, log.version, version);
  }
}

/** All of them are saved together: one applied number stands for all. */
function isApplied(targets: readonly CommitTarget[]): boolean {
  return targets.some(({ collection, key }) => collection.records.applied.has(key));
}

/**
 * Holds the queues of the targets' collections meanwhile. It enters all of them at once: of two
 * such requests one is before the other in every queue, so they never wait for each other.
 */
function inTurn<T>(targets: readonly CommitTarget[], start: () => Coroutine<T>): T | Promise<T> {
  const queues = new Set(targets.map(({ collection }) => collection.queue));
  for (const queue of queues) queue.hasChanges = true;
  if (![...queues].some(({ busy }) => busy)) {
    const result = run(start());
    if (isPromise(result)) for (const queue of queues) void queue.enter(true, () => result);
    return result;
  }
  let ahead = queues.size;
  let begin: () => void = () => undefined;
  const due = new Promise<void>((resolve) => {
    begin = resolve;
  });
  const result = due.then(() => run(start()));
  for (const queue of queues) {
    const held = queue.enter(true, () => {
      if (--ahead === 0) begin();
      return result;
    });
    // The caller gets the failure.
    void Promise.resolve(held).catch(() => undefined);
  }
  return result;
}
