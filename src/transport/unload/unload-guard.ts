import { UNACKNOWLEDGED } from '../../engine/protocol/idempotency-key.ts';
import type { AcknowledgedChange, OpenedHandles, Request } from '../../engine/protocol/requests.ts';
import type { RecoveryRecord } from '../../engine/recovery.ts';
import type { PageLifecycle, UnloadWriter } from '../platform/platform.ts';

/** The client whose changes an {@link UnloadGuard} keeps. */
export interface GuardedClient {
  readonly id: string;
  /** Whether the engine belongs to this page. */
  readonly isLeader: boolean;
  /** Whether the engine runs in this thread. */
  readonly isInThread: boolean;
  readonly opened: OpenedHandles;
  /** The acknowledged changes that are not released yet. */
  readonly unsaved: readonly AcknowledgedChange[];
  /** The changes that are not answered yet, with their sequence numbers. */
  readonly inFlight: Iterable<readonly [request: Request, index: number, number: number]>;
  /** Asks the engine to save; the engine reports failures. */
  save(): void;
  /** Leaves the engine and gives up leadership. */
  suspend(mayReturn: boolean): void;
  /** Looks for an engine again. */
  resume(): void;
}

/** Writes the unsaved changes of a client to storage when its page is hidden or ends. */
export class UnloadGuard {
  readonly #client: GuardedClient;
  readonly #writer: UnloadWriter;
  readonly #stopListening: readonly (() => void)[];
  /** Counts the recovery records of this client. */
  #endings = 0;
  /** Whether the page is frozen or in the back/forward cache. */
  #suspended = false;

  constructor(client: GuardedClient, page: PageLifecycle, writer: UnloadWriter) {
    this.#client = client;
    this.#writer = writer;
    this.#stopListening = [
      page.onHidden(() => this.#hide()),
      page.onLeft((mayReturn) => this.#leave(mayReturn)),
      page.onReturned(() => this.#return()),
    ];
  }

  /** To be called when changes were acknowledged. */
  noteAcknowledged(): void {
    this.#writer.prepare();
  }

  /** To be called when all acknowledged changes are released. */
  noteAllReleased(): void {
    this.#writer.forget();
  }

  close(): void {
    this.#writer.close();
    for (const stop of this.#stopListening) stop();
  }

  /** The page may end without a further event. */
  #hide(): void {
    const { isLeader, unsaved } = this.#client;
    // Before the save: in Firefox a record that waits for a save ends with the page. The changes of a follower are in
    // the engine of the leader.
    if (isLeader && unsaved.length > 0) this.#writer.store(this.#record(unsaved));
    this.#client.save();
  }

  /** The page ends, or is frozen: nothing asynchronous is sure to finish. */
  #leave(mayReturn: boolean): void {
    if (this.#suspended) return;
    const changes = [...this.#client.unsaved];
    for (const [request, , number] of this.#client.inFlight)
      changes.push({ request, number, turn: UNACKNOWLEDGED });
    const isWritten = changes.length > 0 && this.#writer.write(this.#record(changes));
    // A save in this thread may finish, unless another is under way. One that does not would block the next leader
    // while the page is in the back/forward cache, and Chromium evicts the page over that.
    if (this.#client.isInThread && !(mayReturn && isWritten)) this.#client.save();
    this.#client.suspend(mayReturn);
    // Last: where the browser ends this script midway, the second listener begins anew.
    this.#suspended = true;
  }

  #return(): void {
    if (!this.#suspended) return;
    this.#suspended = false;
    this.#client.resume();
  }

  #record(changes: readonly AcknowledgedChange[]): RecoveryRecord {
    const { id, opened } = this.#client;
    return { client: id, ending: ++this.#endings, opened, changes };
  }
}
