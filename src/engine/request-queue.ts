import { type Coroutine, isCoroutine, outcome, type Result } from '../async/coroutine.ts';
import { Postponed, type SerialQueue } from '../async/serial-queue.ts';
import { asCairnError } from '../errors/errors.ts';
import { answerLost, ended, otherVersion } from '../protocol/collection-errors.ts';
import {
  isEdit,
  isEditing,
  isExclusive,
  isOfAnyVersion,
  neededParts,
} from '../protocol/operations.ts';
import type { PartName } from '../protocol/parts.ts';
import type { IdempotencyKey, OperationName, Request } from '../protocol/requests.ts';
import type { BackupRequests } from './backups/backup-requests.ts';
import type { CollectionContext } from './collection-context.ts';
import type { IndexDeclaration } from './documents/index-keeper.ts';
import type { GiveUp } from './executor.ts';
import type { FirstAnswer, FirstReads } from './first-reads/first-reads.ts';
import type { LiveReader } from './live/live-reader.ts';
import { parts } from './parts.ts';
import type { AppliedChanges } from './records/pending-changes.ts';
import type { RecordStore } from './records/record-store.ts';
import type { ReplayOrder } from './replay-order.ts';
import { atRest } from './save-schedule.ts';
import type { EngineTransaction } from './transactions/transaction.ts';

/** Who asks. */
export interface Asking {
  /** Of the handle. */
  readonly declaration?: HandleDeclaration | undefined;
  /** Of a change by a client. */
  readonly key?: IdempotencyKey | undefined;
  readonly reader?: LiveReader | undefined;
  /** On whose view of the collection it works. */
  readonly transaction?: EngineTransaction | undefined;
  /** Of changes that are replayed. */
  readonly order?: ReplayOrder | undefined;
  /** Whether nobody waits for its result any more, nor for its failure. */
  readonly isAnswered?: (() => boolean) | undefined;
  /** Whether it has waited for an index. */
  readonly hasWaited?: boolean | undefined;
}

type Perform = (request: Request, asking: Asking) => Result<unknown>;

/**
 * Begins each request to a collection when it is due: in order, when its indexes are ready and
 * storage rests.
 */
export class RequestQueue {
  readonly #context: CollectionContext;
  readonly #queue: SerialQueue;
  readonly #first: FirstReads;
  readonly #perform: Perform;

  constructor(context: CollectionContext, queue: SerialQueue, first: FirstReads, perform: Perform) {
    this.#context = context;
    this.#queue = queue;
    this.#first = first;
    this.#perform = perform;
  }

  /**
   * Executes a request in its turn, or answers it before that, while the collection is being
   * opened.
   */
  take(request: Request, asking: Asking): unknown {
    const { related } = request;
    const importing = related?.importing;
    if (importing) {
      related.importing = undefined;
      // Not in the queue, where the import would wait for this.
      return importing.then(() => this.take(request, asking));
    }
    const resumed = this.#first.resume(request);
    if (resumed) return resumed.value;
    if (!asking.transaction && isChanging(request)) this.#queue.hasChanges = true;
    // What follows a change must see it.
    const version = asking.declaration?.version;
    const first = this.#queue.hasChanges ? undefined : this.#first.answer(request, version);
    return first ? this.#answerFirst(first, request, asking) : this.#enter(request, asking);
  }

  /** Known when the request is due, at the end of the opening. */
  #answerFirst(
    first: Promise<FirstAnswer | undefined>,
    request: Request,
    asking: Asking,
  ): Promise<unknown> {
    let answer: FirstAnswer | undefined;
    const queued = this.#enter(request, { ...asking, isAnswered: () => answer !== undefined });
    return first.then((found) => {
      answer = found;
      return found ? found.value : queued;
    });
  }

  #enter(request: Request, asking: Asking): unknown {
    // What follows a request that waits for storage must not overtake it. Storage may be busy by
    // its turn.
    const holds =
      (!asking.transaction && isExclusive(request)) ||
      (this.#mustRest(request) && (this.#context.storage.isBusy || !!this.#queue.busy)) ||
      lacksCode(request);
    return this.#queue.enter(holds, () => this.#begin(request, asking));
  }

  #mustRest({ mayHang }: Request): boolean | undefined {
    return this.#context.terminable && mayHang;
  }

  /** Begins a request that is due. */
  #begin(request: Request, asking: Asking): Result<unknown> | Postponed<unknown> {
    const { declaration } = asking;
    if (asking.isAnswered?.()) return undefined;
    const isSame = !declaration || checkVersion(this.#context, request.op, declaration, asking.key);
    const gate = isSame && this.#context.keeper.gateOf(declaration, asking.hasWaited);
    if (gate && request.op !== 'drop') {
      const { pending, error } = gate;
      const waited = { ...asking, hasWaited: true };
      // Hot path: a closure would cost each request one.
      if (pending) return new Postponed(pending.then(this.#enter.bind(this, request, waited)));
      if (error) throw error;
    }
    if (this.#mustRest(request)) return this.#beginAtRest(request, asking);
    return this.#perform(request, asking);
  }

  *#beginAtRest(request: Request, asking: Asking): Coroutine<unknown> {
    // Code comes before writes are held: it may take long.
    yield* needParts(this.#context, request);
    const perform = () => this.#perform(request, asking);
    return yield* outcome(atRest(this.#context.storage, perform));
  }
}

/** Whether it waits for code or for other collections, and what follows waits for it. */
export function lacksCode(request: Request): boolean {
  return request.related?.ahead !== undefined || neededParts(request).some(isMissing);
}

const isMissing = (part: PartName): boolean => !parts.has(part);

/**
 * Waits for the code that a request needs, and until it can read other collections.
 *
 * @throws {CairnError} `load_failed`; why another collection cannot be read.
 */
export function* needParts(
  { events }: CollectionContext,
  request: Pick<Request, 'op' | 'needs' | 'related'>,
): Coroutine<void> {
  if (request.related?.ahead) yield request.related.ahead;
  const missing = neededParts(request).filter(isMissing);
  if (missing.length === 0) return;
  yield Promise.all(missing.map((part) => parts.load(part)));
  events.hub.sendStatus();
}

/** Whether a later read may find something else. */
export function isChanging(request: Request): boolean {
  const { op } = request;
  return isEditing(op) || (isExclusive(request) && op !== 'open');
}

/** What a request needs of its handle's declaration; a replayed change waits for no index. */
export type HandleDeclaration = Pick<IndexDeclaration, 'version'> &
  Partial<Pick<IndexDeclaration, 'born' | 'pending' | 'error'>>;

/**
 * Refuses a request of a handle that has another version than the documents, or is of a collection
 * that has ended.
 *
 * @param key Of a change by a client.
 * @returns whether the versions are the same; a few requests are executed all the same.
 * @throws {CollectionError} `schema_newer`, `schema_older`, `collection_dropped`,
 *   `collection_renamed`
 */
export function checkVersion(
  { availability, settings, records }: CollectionContext,
  op: OperationName,
  { version, born }: HandleDeclaration,
  key?: IdempotencyKey,
): boolean {
  const end = records.applied.endOf(born);
  if (!end && version === records.log.version) return true;
  // Applied before: it is answered so.
  if (availability.error || (key && records.applied.has(key))) return false;
  if (end) throw ended(settings.name, end.to);
  if (isOfAnyVersion(op)) return false;
  throw otherVersion(settings.name, records.log.version, version);
}

/** A collection without documents that is not stored has the highest version of its handles. */
export function declareVersion({ log, table, unsaved }: RecordStore, version: number): void {
  if (!log.exists && table.size + unsaved === 0) log.raiseVersion(version);
}

/** Executes requests about documents or values. */
interface Store {
  execute(request: Request): Result<unknown>;
}

/**
 * Executes a request, unless it is a change that was applied before.
 *
 * @throws {CollectionError} `answer_lost`, for a change that was applied before
 */
export function executeOnce(
  store: Store,
  { records, settings }: CollectionContext,
  request: Request,
  key: IdempotencyKey | undefined,
): Result<unknown> {
  // The parts before the last change nothing yet: the last says whether all are applied.
  const isWhole = request.op !== 'insertPart' || request.last;
  if (!key || !isEdit(request) || !isWhole) return store.execute(request);
  const { applied } = records;
  if (applied.has(key)) {
    abandonParts(store, request);
    throw answerLost(settings.name);
  }
  const result = store.execute(request);
  if (isCoroutine(result)) return noteAfter(applied, result, key, request);
  if (counts(key, request, result)) applied.note(key);
  return result;
}

/** In the turn in which it ends: no save comes in between. */
function* noteAfter(
  applied: AppliedChanges,
  change: Coroutine<unknown>,
  key: IdempotencyKey,
  request: Request,
): Coroutine<unknown> {
  const value = yield* change;
  if (counts(key, request, value)) applied.note(key);
  return value;
}

/**
 * Whether a change is applied. What has changed nothing is asked again where its reply is lost:
 * "made" would be wrong. What its caller knows to be made is done with, whatever it finds.
 */
function counts({ isTold }: IdempotencyKey, { op }: Request, value: unknown): unknown {
  const { count = value } = (value ?? {}) as { readonly count?: unknown };
  return isTold || (op.startsWith('kv') ? value !== false : count);
}

/** Drops the parts of an `insertMany` that is not applied. */
export function abandonParts(store: Store, request: Request): void {
  if (request.op === 'insertPart') store.execute({ ...request, op: 'insertAbandon' });
}

/** Ends what a call has begun that its client no longer waits for. */
export function giveUp(
  request: Exclude<GiveUp, Request<'abort'>>,
  store: Store,
  backups: BackupRequests | undefined,
  { events }: CollectionContext,
  queue: SerialQueue,
): void {
  if (request.op === 'scanEnd') {
    store.execute(request);
    void backups?.views.endScan(request);
  } else if (request.op === 'viewEnd') backups?.views.end(request.reader);
  // Earlier parts may wait in the queue.
  else if (request.op === 'insertAbandon') void queue.enter(false, () => store.execute(request));
  else {
    backups?.endExport(request.cursor).catch((error: unknown) => {
      events.failed(asCairnError(error));
    });
  }
}
