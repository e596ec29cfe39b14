import type {
  AnsweredChange,
  BatchReply,
  ManagedColumns,
  ManagedReply,
  RecordReply,
  Request,
} from '../engine/protocol.ts';
import { isEdit } from '../engine/request-kinds.ts';
import type { Stamps } from '../storage/stored-record.ts';

/**
 * The changes that a client was told of and that are not known to be saved. Where the engine that made them is
 * gone, they are handed on to the next.
 */
export class KeptChanges {
  /** By collection, in the order of their numbers. */
  readonly #changes = new Map<string, AnsweredChange[]>();

  get size(): number {
    let size = 0;
    for (const changes of this.#changes.values()) size += changes.length;
    return size;
  }

  /**
   * Takes in what was answered.
   *
   * @param nameOf The collection that a request is about.
   */
  note(
    batch: readonly Request[],
    first: number,
    { values, failures, turn }: BatchReply,
    nameOf: (request: Request) => string | undefined,
  ): void {
    for (let index = 0; index < batch.length; index++) {
      const request = batch[index] as Request;
      if (request.op === 'insertAbandon' || (request.op === 'insertPart' && failures?.has(index)))
        this.#abandon(nameOf(request), request.call);
      if (!isEdit(request) || failures?.has(index)) continue;
      const again = asAnswered(request, values[index]);
      const name = again && nameOf(request);
      if (name === undefined) continue;
      const change = { number: first + index, turn, request: again as Request };
      const changes = this.#changes.get(name);
      if (changes) changes.push(change);
      else this.#changes.set(name, [change]);
    }
  }

  /** Forgets the changes of a collection up to a number. */
  settle(collection: string, number: number): void {
    const changes = this.#changes.get(collection);
    if (!changes) return;
    const made = new Set<number>();
    for (const { number: own, request } of changes) {
      if (own <= number && request.op === 'insertPart' && request.last) made.add(request.call);
    }
    const left = changes.filter(
      ({ number: own, request }) => own > number || (isBegun(request) && !made.has(request.call)),
    );
    if (left.length > 0) this.#changes.set(collection, left);
    else this.#changes.delete(collection);
  }

  /** Forgets changes that can never be made again. */
  drop(numbers: ReadonlySet<number>): void {
    for (const [name, changes] of this.#changes) {
      this.#changes.set(
        name,
        changes.filter(({ number }) => !numbers.has(number)),
      );
    }
  }

  all(): AnsweredChange[] {
    return [...this.#changes.values()].flat();
  }

  #abandon(name: string | undefined, call: number): void {
    const changes = name === undefined ? undefined : this.#changes.get(name);
    if (!changes || name === undefined) return;
    const left = changes.filter(({ request }) => !('call' in request && request.call === call));
    this.#changes.set(name, left);
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
      return { ...request, id, now: newest(stamps) };
    }
    case 'upsert': {
      const [id, , stamps] = answer as ManagedReply;
      return { ...request, id, now: newest(stamps) };
    }
    case 'insertPart': {
      const { keys, stamps } = answer as ManagedColumns;
      return { ...request, ids: [...keys], now: newest(stamps?.[0]) };
    }
    case 'update':
    case 'patch': {
      const [, , stamps] = (answer ?? []) as unknown as ManagedReply | RecordReply;
      return answer === undefined ? undefined : { ...request, now: newest(stamps) };
    }
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
      // Archived, deleted: or there was nothing to do it to.
      return answer ? request : undefined;
  }
}

function newest(stamps: Stamps | undefined): number | undefined {
  return stamps && Math.max(...stamps);
}
