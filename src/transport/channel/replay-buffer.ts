import type { FirstSequenceNumbers } from '../../engine/protocol/idempotency-key.ts';
import { isCompared } from '../../engine/protocol/request-kinds.ts';
import type {
  AcknowledgedChange,
  BatchReply,
  ManagedReply,
  ReplyTo,
  Request,
} from '../../engine/protocol/requests.ts';
import type { Stamps } from '../../storage/segments/stored-record.ts';
import { journalSize } from '../unload/journal-size.ts';
import { numberedChanges } from './open-handles.ts';

/**
 * A client's acknowledged changes that are not released yet. When their engine is lost, the client replays them to the
 * next.
 */
export class ReplayBuffer {
  /** In the order of execution, across handles: several may lead to one collection. */
  #changes: AcknowledgedChange[] = [];
  /** Characters that the changes take in an unload journal; `undefined` until computed anew. */
  #journalSize: number | undefined = 0;

  get size(): number {
    return this.#changes.length;
  }

  /** Characters that the changes take in an unload journal, at most. */
  get journalSize(): number {
    if (this.#journalSize === undefined) {
      this.#journalSize = 0;
      for (const { request } of this.#changes) this.#journalSize += journalSize(request);
    }
    return this.#journalSize;
  }

  /** Adds the acknowledged changes of a batch. */
  note(
    batch: readonly Request[],
    first: FirstSequenceNumbers,
    { values, failures, turn }: BatchReply,
  ): void {
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
      this.#changes.push({ number, turn, request: replay });
      if (this.#journalSize !== undefined) this.#journalSize += journalSize(replay);
    }
    for (const request of batch) if (request.op === 'insertAbandon') this.#abandon(request);
  }

  /** Forgets the changes of a handle up to a sequence number, except the missed ones. */
  release(handle: number, number: number, missed: readonly number[] | undefined): void {
    const isReleased = (one: AcknowledgedChange) =>
      one.request.handle === handle &&
      one.number <= number &&
      missed?.includes(one.number) !== true;
    // The last part of an `insertMany` releases the others.
    const calls = new Set<number>();
    for (const one of this.#changes) {
      if (one.request.op === 'insertPart' && one.request.last && isReleased(one))
        calls.add(one.request.call);
    }
    this.#retain((one) =>
      isIncompletePart(one.request) ? !calls.has(one.request.call) : !isReleased(one),
    );
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
    this.#journalSize = undefined;
  }
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
function asAcknowledged(request: Request, reply: unknown): Request | undefined {
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
      const { keys, now } = reply as ReplyTo<'insertPart'>;
      // The reply to the last part of an `upsertMany` covers all parts.
      return { ...request, ids: keys.slice(keys.length - request.bodies.length), now };
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
    case 'patchMany': {
      const { count, now } = reply as ReplyTo<'patchMany'>;
      return count > 0 ? { ...request, now } : undefined;
    }
    case 'archive':
    case 'unarchive':
      return reply === false ? undefined : { ...request, now: reply as number };
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

/** The request without the version that it names: that belongs to the lost engine, which has compared it. */
function uncompared(request: Request): Request {
  if (!isCompared(request)) return request;
  const { handle, body } = request;
  return request.op === 'replaceIf'
    ? { op: 'update', handle, id: request.id, body }
    : { op: 'kvSet', handle, key: request.key, body };
}

/** The time of the change: `updated` counts, though a clock set back may make it earlier than `created`. */
function acknowledgedTime(stamps: Stamps | undefined): number | undefined {
  return stamps && (stamps[1] || stamps[0]);
}
