import type { CairnError } from '../../errors/errors.ts';
import type { Started } from '../../protocol/database-settings.ts';
import type { EngineEvent } from '../../protocol/event-protocol.ts';
import type {
  AcknowledgedChange,
  BatchReply,
  FirstSequenceNumbers,
  OpenedHandles,
  Replayed,
  Request,
} from '../../protocol/requests.ts';

/**
 * A client's route to the leader's engine: in this thread, in a worker or in another tab. When it
 * ends, its calls may never settle; the client retries them on the next route.
 */
export interface Route {
  readonly started: Started;
  /** Whether the engine belongs to this page, and not to another tab. */
  readonly own: boolean;
  /**
   * Must be called first: opens collections and reapplies changes of an earlier engine.
   *
   * @param database The id of the database that the changes were made to, if known.
   * @throws {StorageError} `database_destroyed` where the engine has another database.
   */
  replay(
    opened: OpenedHandles,
    changes: readonly AcknowledgedChange[],
    database: string | undefined,
  ): Promise<Replayed>;
  /** @param first By handle, the sequence number of its first change in the batch. */
  execute(batch: readonly Request[], first: FirstSequenceNumbers): BatchReply | Promise<BatchReply>;
  /** The engine's side, where it is in this thread: it answers without promises. */
  readonly inThread?: EngineInThread | undefined;
  watch(on: boolean): Promise<void>;
  save(): Promise<void>;
  /** Leaves the engine; the engine goes on. */
  leave(): void;
}

/** The calls without promises of an engine in this thread. */
export interface EngineInThread {
  /**
   * What reads of a handle look into now, which the engine's own reads know. Throws if it is not at
   * hand.
   */
  context(handle: number): object;
  /** Executes one request now, or throws. */
  execute(request: Request, first?: FirstSequenceNumbers): BatchReply;
}

export interface RouteEvents {
  readonly event: (event: EngineEvent) => void;
  /** Whether the client keeps changes that it may have to replay. */
  readonly hasUnsaved: () => boolean;
  /**
   * The leader in another tab has been silent for too long, the `cause`; or messages were lost, as
   * a frozen page does not receive all of them.
   */
  readonly lost: (cause: CairnError | undefined) => void;
}
