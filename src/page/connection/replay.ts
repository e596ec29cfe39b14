import { Backoff, type Clock } from '../../async/clock.ts';
import type { Body } from '../../codec/body.ts';
import { asCairnError, type CairnError, mayPass } from '../../errors/errors.ts';
import { isCompared, isEdit } from '../../protocol/operations.ts';
import type {
  AcknowledgedChange,
  BatchReply,
  FirstSequenceNumbers,
  ManagedReply,
  OpenedHandles,
  RecordReply,
  ReplyTo,
  Request,
} from '../../protocol/requests.ts';
import type { CollectionSettings } from '../../protocol/settings.ts';
import type { Stamps } from '../../storage/segments/stored-record.ts';
import { JOURNAL_ROOM, journalSize } from '../unload/unload-journal.ts';
import type { Route } from './route.ts';

/**
 * A client's acknowledged changes that are not released yet. When their engine is lost, the client
 * replays them to the next.
 */
export class ReplayBuffer {
  /** In the order of execution, across handles: several may lead to one collection. */
  #changes: AcknowledgedChange[] = [];
  /** By handle, whether the change with a sequence number is released. */
  readonly #released = new Map<number, (number: number) => boolean>();
  /** Characters that the first changes take in an unload journal, at most. */
  #size = 0;
  /** The number of these changes. */
  #measured = 0;

  get size(): number {
    return this.#changes.length;
  }

  /**
   * Whether an unload journal has room for all changes. Measures no more of them than it takes to
   * know.
   */
  get fitsJournal(): boolean {
    for (; this.#size <= JOURNAL_ROOM; this.#measured++) {
      const next = this.#changes[this.#measured];
      if (!next) return true;
      this.#size += journalSize(next.request);
    }
    return false;
  }

  /** Adds the acknowledged changes of a batch, and returns them. */
  note(
    batch: readonly Request[],
    first: FirstSequenceNumbers,
    { values, failures, turn }: BatchReply,
  ): readonly AcknowledgedChange[] {
    const added: AcknowledgedChange[] = [];
    for (const [request, index, number] of numberedChanges(batch, first)) {
      const failure = failures?.get(index) as { code?: string } | undefined;
      // Applied, but the reply was lost with its engine, so the change may be unsaved.
      const isApplied = failure?.code === 'answer_lost';
      if (failure && !isApplied) {
        // An `insertMany` fails with any of its parts.
        if (request.op === 'insertPart') this.#abandon(request);
        continue;
      }
      const replay = isApplied ? uncompared(request) : asAcknowledged(request, values[index]);
      if (!replay) continue;
      const change = { number, turn, request: replay };
      // The event of a save comes before the reply to a batch of a change and `save()`.
      if (this.#isReleased(change)) {
        if (replay.op === 'insertPart') this.#abandon(replay);
        continue;
      }
      this.#changes.push(change);
      added.push(change);
    }
    for (const request of batch) if (request.op === 'insertAbandon') this.#abandon(request);
    return added;
  }

  /** Forgets the changes of a handle up to a sequence number, except the missed ones. */
  release(handle: number, number: number, missed: readonly number[] | undefined): void {
    this.#released.set(handle, (other) => other <= number && missed?.includes(other) !== true);
    // The last part of an `insertMany` releases the others.
    const calls = new Set<number>();
    for (const one of this.#changes) {
      if (one.request.op === 'insertPart' && this.#isReleased(one)) calls.add(one.request.call);
    }
    this.#retain((one) =>
      isIncompletePart(one.request) ? !calls.has(one.request.call) : !this.#isReleased(one),
    );
  }

  /** Not an incomplete part by itself. A commit is released with the last of its collections. */
  #isReleased({ request, number }: AcknowledgedChange): boolean {
    const covers = (handle: number, own: number) => this.#released.get(handle)?.(own) === true;
    if (request.op === 'commit') return request.numbers.every(([own, one]) => covers(own, one));
    return !isIncompletePart(request) && covers(request.handle, number);
  }

  /** Forgets changes that can never be reapplied. */
  drop(changes: ReadonlySet<AcknowledgedChange>): void {
    this.#retain((one) => !changes.has(one));
  }

  all(): AcknowledgedChange[] {
    return [...this.#changes];
  }

  #abandon({ call }: Request<'insertPart' | 'insertAbandon'>): void {
    this.#retain(({ request }) => !('call' in request && request.call === call));
  }

  #retain(isRetained: (change: AcknowledgedChange) => boolean): void {
    this.#changes = this.#changes.filter(isRetained);
    this.#size = this.#measured = 0;
  }
}

/** Whether a caller waits for one of the changes: of an `insertMany` for the last part. */
export function hasCompleteChange(changes: readonly AcknowledgedChange[]): boolean {
  return changes.some(({ request }) => !isIncompletePart(request));
}

/** Whether the request takes effect only with the last part of its call. */
function isIncompletePart(request: Request): request is Request<'insertPart'> {
  return request.op === 'insertPart' && !request.last;
}

/**
 * The request that repeats an acknowledged change, with the ids and times of the reply.
 *
 * @returns `undefined` where nothing changed.
 */
export function asAcknowledged(request: Request, reply: unknown): Request | undefined {
  switch (request.op) {
    case 'insert': {
      const [id, , stamps] = reply as ManagedReply;
      return { ...request, id, now: acknowledgedTime(stamps) };
    }
    case 'upsert': {
      const [id, , stamps] = reply as ManagedReply;
      return { ...request, id, now: acknowledgedTime(stamps) };
    }
    case 'insertPart': {
      const { indexKeys: _, ...part } = request;
      const { keys, now } = reply as ReplyTo<'insertPart'>;
      // The reply to the last part of an `upsertMany` covers all parts.
      return { ...part, ids: keys.slice(keys.length - request.bodies.length), now };
    }
    case 'update': {
      const [, , stamps] = (reply ?? []) as unknown as ManagedReply;
      return reply === undefined ? undefined : { ...request, now: acknowledgedTime(stamps) };
    }
    case 'replaceIf': {
      if (!reply) return undefined;
      const [, , stamps] = reply as ManagedReply;
      return { ...uncompared(request), now: acknowledgedTime(stamps) };
    }
    case 'patch': {
      const patched = reply as ReplyTo<'patch'>;
      return patched && { ...request, now: patched.now };
    }
    case 'patchOne': {
      const changed = reply as ReplyTo<'patchOne'>;
      if (!changed) return undefined;
      const { record, now, isInserted } = changed;
      const [id, , , body] = record;
      // The same document, whatever others have made of it since.
      if (!isInserted) return { ...request, op: 'patch', id, now };
      return { op: 'insert', handle: request.handle, id, body: body as Body, now };
    }
    case 'deleteOne': {
      const { handle } = request;
      return reply ? { op: 'delete', handle, id: (reply as RecordReply)[0] } : undefined;
    }
    case 'patchMany': {
      const { count, now } = reply as ReplyTo<'patchMany'>;
      return count > 0 ? { ...request, now } : undefined;
    }
    case 'archive':
    case 'unarchive':
      return reply === false ? undefined : { ...request, now: reply as number };
    case 'commit':
      return reply === 'committed' ? request : undefined;
    case 'kvReplace':
      return reply ? uncompared(request) : undefined;
    case 'kvSet':
    case 'kvPush':
    case 'kvAdd':
    case 'kvRemove':
      return request;
    default:
      // A delete; falsy where there was nothing to delete.
      return reply ? request : undefined;
  }
}

/**
 * The request without the version that it names: that belongs to the lost engine, which has
 * compared it.
 */
function uncompared(request: Request): Request {
  if (!isCompared(request)) return request;
  const { handle, body } = request;
  return request.op === 'replaceIf'
    ? { op: 'update', handle, id: request.id, body }
    : { op: 'kvSet', handle, key: request.key, body };
}

/**
 * The time of the change: `updated` counts, though a clock set back may make it earlier than
 * `created`.
 */
function acknowledgedTime(stamps: Stamps | undefined): number | undefined {
  return stamps && (stamps[1] || stamps[0]);
}

const none: FirstSequenceNumbers = [];

/**
 * A client's open handles, with the sequence number of the last change of each. Client, handle and
 * number are a change's idempotency key: an engine recognises a change that was applied before.
 */
export class OpenHandles {
  readonly #settings = new Map<number, CollectionSettings>();
  readonly #lastNumbers = new Map<number, number>();
  /** By settings, handles that nobody has any more. The engine keeps what they declared. */
  readonly #free = new Map<string, number[]>();

  /** Notes the opens of a batch, numbers its changes. Must be called once, before it is sent. */
  number(batch: readonly Request[]): FirstSequenceNumbers {
    this.noteOpens(batch);
    let first: [number, number][] | undefined;
    for (const request of batch)
      if (request.op === 'commit') {
        this.#numberCommit(request);
        for (const [changed, number] of request.numbers) first = withFirst(first, changed, number);
      } else if (isEdit(request))
        first = withFirst(first, request.handle, this.#nextNumber(request.handle));
    return first ?? none;
  }

  #numberCommit({ changes, numbers }: Request<'commit'>): void {
    for (const { handle } of changes)
      if (!numbers.some(([known]) => known === handle))
        numbers.push([handle, this.#nextNumber(handle)]);
  }

  #nextNumber(handle: number): number {
    const number = (this.#lastNumbers.get(handle) ?? 0) + 1;
    this.#lastNumbers.set(handle, number);
    return number;
  }

  /**
   * Must be called with replies, too: a handle may have the number of one whose collection was
   * dropped before its client heard of that.
   */
  noteOpens(batch: readonly Request[], [born]: readonly unknown[] = []): void {
    for (const request of batch) {
      if (request.op !== 'open') continue;
      // It travels alone. Until it is answered, what is replayed is of the handle before.
      const isAnswered = typeof born === 'number';
      if (isAnswered) request.settings.born = Math.max(born, -1 - born);
      if (isAnswered || !this.#settings.has(request.handle))
        this.#settings.set(request.handle, request.settings);
    }
  }

  /** Its collection was dropped or renamed: no later engine may make it anew. */
  forget(handle: number): void {
    this.#settings.delete(handle);
  }

  /** Name of a request's collection. */
  nameOf(handle: number): string | undefined {
    return this.#settings.get(handle)?.name;
  }

  all(): OpenedHandles {
    return [...this.#settings];
  }

  /**
   * Nobody has the handle any more: the next with its settings takes its place, in the engine too.
   */
  free(handle: number): void {
    const settings = this.#settings.get(handle);
    // Its collection was dropped.
    if (!settings) return;
    const like = JSON.stringify({ ...settings, born: undefined });
    const free = this.#free.get(like);
    if (free) free.push(handle);
    else this.#free.set(like, [handle]);
  }

  /** A free handle of a collection that was not dropped meanwhile. */
  take(settings: CollectionSettings): number | undefined {
    if (this.#free.size === 0) return undefined;
    const like = JSON.stringify(settings);
    const free = this.#free.get(like) ?? [];
    const handle = free.pop();
    if (free.length === 0) this.#free.delete(like);
    if (handle === undefined) return undefined;
    return this.#settings.has(handle) ? handle : this.take(settings);
  }
}

/** Adds the first number of a handle. */
function withFirst(
  known: [number, number][] | undefined,
  handle: number,
  number: number,
): [number, number][] {
  const first = known ?? [];
  // Hot path: `some` takes a closure for each change.
  for (const one of first) if (one[0] === handle) return first;
  first.push([handle, number]);
  return first;
}

/**
 * The changes of a batch, with their indexes and sequence numbers: 0 for a commit, which has
 * several.
 */
export function* numberedChanges(
  batch: readonly Request[],
  first: FirstSequenceNumbers,
): Generator<readonly [request: Request, index: number, number: number]> {
  if (first.length === 0) return;
  const next = new Map(first);
  for (const [index, request] of batch.entries()) {
    if (request.op === 'commit') {
      for (const [handle, number] of request.numbers) next.set(handle, number + 1);
      yield [request, index, 0];
    }
    if (!isEdit(request)) continue;
    const number = next.get(request.handle) as number;
    next.set(request.handle, number + 1);
    yield [request, index, number];
  }
}

/** First delay before changes are replayed again after a failure of storage. */
const RETRY_MS = 500;

/**
 * Replays a client's unsaved changes to an engine, and retries for as long as the engine's storage
 * fails. docs/decisions/017-tabs.md has the reasons.
 */
export class Replayer {
  readonly #unsaved: ReplayBuffer;
  readonly #handles: OpenHandles;
  readonly #clock: Clock;
  readonly #refused: (error: CairnError, request: Request) => void;
  /** The route to the engine that reapplies. */
  #route: Route | undefined;
  /** Why that engine has not reapplied all changes. */
  #failure: CairnError | undefined;
  readonly #backoff = new Backoff(RETRY_MS);
  #cancel: (() => void) | undefined;
  #database: string | undefined;
  #joining: Promise<void> | undefined;
  #joined: () => void = () => undefined;

  /** @param refused Called with a change that can never be reapplied. */
  constructor(
    unsaved: ReplayBuffer,
    handles: OpenHandles,
    clock: Clock,
    refused: (error: CairnError, request: Request) => void,
  ) {
    this.#unsaved = unsaved;
    this.#handles = handles;
    this.#clock = clock;
    this.#refused = refused;
  }

  /** The id of the client's database, once an engine has told it. */
  get database(): string | undefined {
    return this.#database;
  }

  /**
   * Settles once the first engine has told the id of its database: until then no change is
   * acknowledged.
   */
  get joining(): Promise<void> | undefined {
    return this.#joining;
  }

  /** Must be called when the client's database is gone, and the client goes on with another. */
  forget(): void {
    this.#database = undefined;
    this.#unsaved.drop(new Set(this.#unsaved.all()));
  }

  /**
   * Must be called when the engine is lost: what it has answered may be acknowledged, the next
   * tells the id.
   */
  joined(): void {
    this.#joining = undefined;
    this.#joined();
  }

  /**
   * Opens the client's handles, and replays its unsaved changes.
   *
   * @throws {StorageError} `database_destroyed`
   */
  async replay(route: Route): Promise<void> {
    this.stop();
    this.#route = route;
    if (this.#database === undefined) {
      this.#joining = new Promise((resolve) => {
        this.#joined = resolve;
      });
    }
    const changes = this.#unsaved.all();
    const { failures, database } = await route.replay(this.#handles.all(), changes, this.#database);
    // A session that has been left refuses them all; the next engine applies them.
    if (this.#route !== route) return;
    this.#database ??= database;
    this.joined();
    this.#failure = undefined;
    const gone = new Set<AcknowledgedChange>();
    for (const [index, cause] of failures) {
      const error = asCairnError(cause);
      if (mayPass(error)) this.#failure = error;
      else {
        const change = changes[index] as AcknowledgedChange;
        gone.add(change);
        this.#refused(error, change.request);
      }
    }
    this.#unsaved.drop(gone);
    if (!this.#failure) {
      this.#backoff.succeeded();
      return;
    }
    this.#cancel = this.#clock.after(this.#backoff.failed(), () => {
      // If the engine is lost, the next one gets all changes.
      this.finish().catch(() => undefined);
    });
  }

  /** Must be called before a save: an engine cannot save a change that it has not reapplied. */
  async finish(): Promise<void> {
    if (!this.#failure || !this.#route) return;
    await this.replay(this.#route);
    if (this.#failure) throw this.#failure;
  }

  /** Must be called when the route is left. */
  stop(): void {
    this.#cancel?.();
    this.#route = this.#cancel = undefined;
  }
}
