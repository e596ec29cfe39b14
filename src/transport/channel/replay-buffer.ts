import type { FirstSequenceNumbers } from '../../engine/protocol/idempotency-key.ts';
import type { AcknowledgedChange, BatchReply, Request } from '../../engine/protocol/requests.ts';
import { JOURNAL_ROOM, journalSize } from '../unload/journal-size.ts';
import { asAcknowledged, uncompared } from './acknowledged-request.ts';
import { numberedChanges } from './open-handles.ts';

/**
 * A client's acknowledged changes that are not released yet. When their engine is lost, the client replays them to the
 * next.
 */
export class ReplayBuffer {
  /** In the order of execution, across handles: several may lead to one collection. */
  #changes: AcknowledgedChange[] = [];
  /** The handles whose part of a commit is released. */
  readonly #released = new WeakMap<AcknowledgedChange, Set<number>>();
  /** Characters that the first changes take in an unload journal, at most, and the number of these changes. */
  #measured = { size: 0, count: 0 };

  get size(): number {
    return this.#changes.length;
  }

  /** Whether an unload journal has room for all changes. Measures no more of them than it takes to know. */
  get fitsJournal(): boolean {
    let { size, count } = this.#measured;
    for (; count < this.#changes.length && size <= JOURNAL_ROOM; count++)
      size += journalSize((this.#changes[count] as AcknowledgedChange).request);
    this.#measured = { size, count };
    return size <= JOURNAL_ROOM;
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
      this.#changes.push(change);
      added.push(change);
    }
    for (const request of batch) if (request.op === 'insertAbandon') this.#abandon(request);
    return added;
  }

  /** Forgets the changes of a handle up to a sequence number, except the missed ones. */
  release(handle: number, number: number, missed: readonly number[] | undefined): void {
    const covers = (other: number) => other <= number && missed?.includes(other) !== true;
    const isReleased = (one: AcknowledgedChange) =>
      one.request.op === 'commit'
        ? this.#isReleased(one, one.request, handle, covers)
        : one.request.handle === handle && covers(one.number);
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

  /** A commit is released with the last of its collections: one may have nothing to save. */
  #isReleased(
    change: AcknowledgedChange,
    { numbers }: Request<'commit'>,
    handle: number,
    covers: (number: number) => boolean,
  ): boolean {
    const released = this.#released.get(change) ?? new Set();
    this.#released.set(change, released);
    for (const [own, number] of numbers) if (own === handle && covers(number)) released.add(own);
    return numbers.every(([own]) => released.has(own));
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
    this.#measured = { size: 0, count: 0 };
  }
}

/** Whether the request takes effect only with the last part of its call. */
export function isIncompletePart(request: Request): request is Request<'insertPart'> {
  return request.op === 'insertPart' && !request.last;
}
