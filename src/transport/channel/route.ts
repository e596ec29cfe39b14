import type { FirstSequenceNumbers } from '../../engine/protocol/idempotency-key.ts';
import type {
  AcknowledgedChange,
  BatchReply,
  EngineEvent,
  OpenedHandles,
  Request,
} from '../../engine/protocol/requests.ts';
import type { CairnError } from '../../errors/cairn-error.ts';
import type { Started } from './channel.ts';

/**
 * A way to the engine that leads, be it in this thread, in a worker or in another tab; a client goes on by another
 * when this one ends. What was asked on a route that ended may never be answered.
 */
export interface Route {
  readonly started: Started;
  /** Whether the engine belongs to this page, and not to another tab. */
  readonly own: boolean;
  /**
   * To be called first: opens collections, and makes changes again that were made by an engine before this one.
   *
   * @returns what could not be made again, by its place in the list.
   */
  replay(
    opened: OpenedHandles,
    changes: readonly AcknowledgedChange[],
  ): Promise<ReadonlyMap<number, unknown>>;
  /** @param first By handle, the client's number of the first change; the others follow. */
  execute(batch: readonly Request[], first: FirstSequenceNumbers): BatchReply | Promise<BatchReply>;
  readonly executeSync?:
    | ((request: Request, first: FirstSequenceNumbers) => BatchReply)
    | undefined;
  watch(on: boolean): Promise<void>;
  save(): Promise<void>;
  /** Leaves the engine; the engine goes on. */
  leave(): void;
}

/** What a route tells. */
export interface RouteEvents {
  readonly event: (event: EngineEvent) => void;
  /** Whether the client keeps changes that it would have to hand on. */
  readonly keeps: () => boolean;
  /** Messages were lost: a page that was frozen does not get all of them. */
  readonly gap: () => void;
  /** Whoever leads has been silent for too long. */
  readonly silent: (error: CairnError) => void;
}
