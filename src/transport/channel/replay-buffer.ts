import type { FirstSequenceNumbers } from '../../engine/protocol/idempotency-key.ts';
import type {
  AcknowledgedChange,
  BatchReply,
  ManagedColumns,
  ManagedReply,
  RecordReply,
  Request,
} from '../../engine/protocol/requests.ts';
import type { Stamps } from '../../storage/segments/stored-record.ts';
import { journalSize } from '../unload/journal-size.ts';
import { numberedChanges } from './open-handles.ts';

/**
 * The changes that a client was told of and that are not known to be saved. Where the engine that made them is
 * gone, they are handed on to the next.
 */
export class ReplayBuffer {
  /** In the order they were made in, whatever handle they were made through: several may lead to one collection. */
  #changes: AcknowledgedChange[] = [];
  /** Characters that the changes take in an unload journal; `undefined` while it is not known. */
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

  /** Takes in what was answered. */
  note(
    batch: readonly Request[],
    first: FirstSequenceNumbers,
    { values, failures, turn }: BatchReply,
  ): void {
    for (const [request, place, number] of numberedChanges(batch, first)) {
      const failure = failures?.get(place) as { code?: string } | undefined;
      // Made, and what was answered is lost: whether it is saved is not known.
      const isMade = failure?.code === 'answer_lost';
      if (failure && !isMade) {
        // Without one of its parts an `insertMany` comes to nothing.
        if (request.op === 'insertPart') this.#abandon(request);
        continue;
      }
      const again = isMade ? request : asAnswered(request, values[place]);
      if (!again) continue;
      this.#changes.push({ number, turn, request: again });
      if (this.#journalSize !== undefined) this.#journalSize += journalSize(again);
    }
    for (const request of batch) if (request.op === 'insertAbandon') this.#abandon(request);
  }

  /** Forgets the changes through a handle up to a number, but for those that were missed. */
  release(handle: number, number: number, missed: readonly number[] | undefined): void {
    const isSettled = (one: AcknowledgedChange) =>
      one.request.handle === handle &&
      one.number <= number &&
      missed?.includes(one.number) !== true;
    // The parts of a call are settled with the last of them.
    const calls = new Set<number>();
    for (const one of this.#changes) {
      if (one.request.op === 'insertPart' && one.request.last && isSettled(one))
        calls.add(one.request.call);
    }
    this.#retain((one) => (isBegun(one.request) ? !calls.has(one.request.call) : !isSettled(one)));
  }

  /** Forgets changes that can never be made again. */
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

/** Whether it changes nothing before the last part of its call. */
function isBegun(request: Request): request is Request<'insertPart'> {
  return request.op === 'insertPart' && !request.last;
}

/**
 * The request that does again what was answered: with the ids and the times that were given then.
 *
 * @returns `undefined` where nothing was changed.
 */
function asAnswered(request: Request, answer: unknown): Request | undefined {
  switch (request.op) {
    case 'insert': {
      const [id, , stamps] = answer as ManagedReply;
      return { ...request, id, now: toldTime(stamps) };
    }
    case 'upsert': {
      const [id, , stamps] = answer as ManagedReply;
      return { ...request, id, now: toldTime(stamps) };
    }
    case 'insertPart': {
      const { keys, stamps } = answer as ManagedColumns;
      return { ...request, ids: [...keys], now: toldTime(stamps?.[0]) };
    }
    case 'update':
    case 'patch': {
      const [, , stamps] = (answer ?? []) as unknown as ManagedReply | RecordReply;
      return answer === undefined ? undefined : { ...request, now: toldTime(stamps) };
    }
    case 'archive':
    case 'unarchive':
      return answer === false ? undefined : { ...request, now: answer as number };
    case 'kvReplace':
      // The version is one of the engine that is gone; that it was the right one is known.
      return answer
        ? { op: 'kvSet', handle: request.handle, key: request.key, body: request.body }
        : undefined;
    case 'kvSet':
    case 'kvPush':
    case 'kvAdd':
    case 'kvRemove':
      return request;
    default:
      // Deleted: or there was nothing to delete.
      return answer ? request : undefined;
  }
}

/** When it was made, by the clock of then: which may have been set back since the document was created. */
function toldTime(stamps: Stamps | undefined): number | undefined {
  return stamps && (stamps[1] || stamps[0]);
}
