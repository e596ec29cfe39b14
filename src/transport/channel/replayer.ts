import type { AcknowledgedChange, Request } from '../../engine/protocol/requests.ts';
import { Backoff } from '../../engine/scheduling/backoff.ts';
import type { Clock } from '../../engine/scheduling/clock.ts';
import { asCairnError } from '../../errors/as-cairn-error.ts';
import type { CairnError } from '../../errors/cairn-error.ts';
import { StorageError } from '../../errors/storage-error.ts';
import type { OpenHandles } from './open-handles.ts';
import type { ReplayBuffer } from './replay-buffer.ts';
import type { Route } from './route.ts';

/** First delay before changes are replayed again after a failure of storage. */
const RETRY_MS = 500;

/** Replays a client's unsaved changes to an engine, and retries for as long as the engine's storage fails. */
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

  /** Settles once the first engine has told the id of its database: until then no change is acknowledged. */
  get joining(): Promise<void> | undefined {
    return this.#joining;
  }

  /** Must be called when the client's database is gone, and the client goes on with another. */
  forget(): void {
    this.#database = undefined;
    this.#unsaved.drop(new Set(this.#unsaved.all()));
  }

  /** Must be called when the engine is lost: what it has answered may be acknowledged, the next tells the id. */
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
    this.#database ??= database;
    this.joined();
    this.#failure = undefined;
    const gone = new Set<AcknowledgedChange>();
    for (const [index, cause] of failures) {
      const error = asCairnError(cause);
      if (error instanceof StorageError) this.#failure = error;
      else {
        const change = changes[index] as AcknowledgedChange;
        gone.add(change);
        this.#refused(error, change.request);
      }
    }
    if (gone.size > 0) this.#unsaved.drop(gone);
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

  stop(): void {
    this.#cancel?.();
    this.#cancel = undefined;
  }
}
