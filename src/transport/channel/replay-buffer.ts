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
  /** By handle, whether the change with a sequence number is released. */
  readonly #released = new Map<number, (number: number) => boolean>();
  /** Characters that the first changes take in an unload journal, at most. */
  #size = 0;
  /** The number of these changes. */
  #measured = 0;

  get size(): number {
    return this.#changes.length;
  }

  /** Whether an unload journal has room for all changes. Measures no more of them than it takes to know. */
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

/** Whether a caller waits for one of the changes: that of an `insertMany` waits for its last part. */
export function hasCompleteChange(changes: readonly AcknowledgedChange[]): boolean {
  return changes.some(({ request }) => !isIncompletePart(request));
}

/** Whether the request takes effect only with the last part of its call. */
function isIncompletePart(request: Request): request is Request<'insertPart'> {
  return request.op === 'insertPart' && !request.last;
}
