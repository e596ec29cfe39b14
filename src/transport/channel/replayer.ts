import type { AcknowledgedChange, OpenedHandles, Request } from '../../engine/protocol/requests.ts';
import { Backoff } from '../../engine/scheduling/backoff.ts';
import type { Clock } from '../../engine/scheduling/clock.ts';
import { asCairnError } from '../../errors/as-cairn-error.ts';
import type { CairnError } from '../../errors/cairn-error.ts';
import { StorageError } from '../../errors/storage-error.ts';
import type { ReplayBuffer } from './replay-buffer.ts';
import type { Route } from './route.ts';

/** The first wait before changes are handed on again that could not be made. */
const RETRY_MS = 500;

/** What handing on needs of its client. */
export interface ReplayerHost {
  readonly clock: Clock;
  readonly kept: ReplayBuffer;
  readonly opened: () => OpenedHandles;
  /** The engine that leads now, if any. */
  readonly route: () => Route | undefined;
  /** A change can never be made again. */
  readonly lost: (error: CairnError, request: Request) => void;
}

/** Hands what a client keeps to an engine, and goes on trying for as long as its storage fails. */
export class Replayer {
  readonly #host: ReplayerHost;
  /** Why something that the client was told of is not made in the engine that leads. */
  #failure: CairnError | undefined;
  readonly #backoff = new Backoff(RETRY_MS);
  #cancel: (() => void) | undefined;

  constructor(host: ReplayerHost) {
    this.#host = host;
  }

  /** Opens the client's collections, and makes again what it keeps. */
  async replay(route: Route): Promise<void> {
    const { kept, opened, lost, clock } = this.#host;
    this.stop();
    const changes = kept.all();
    const failures = await route.replay(opened(), changes);
    this.#failure = undefined;
    const gone = new Set<AcknowledgedChange>();
    for (const [place, cause] of failures) {
      const error = asCairnError(cause);
      if (error instanceof StorageError) this.#failure = error;
      else {
        const change = changes[place] as AcknowledgedChange;
        gone.add(change);
        lost(error, change.request);
      }
    }
    if (gone.size > 0) kept.drop(gone);
    if (!this.#failure) {
      this.#backoff.succeeded();
      return;
    }
    this.#cancel = clock.after(this.#backoff.failed(), () => {
      // When the route is gone, the next is handed everything.
      this.finish().catch(() => undefined);
    });
  }

  /** To be called before saving: what is not made cannot be saved. */
  async finish(): Promise<void> {
    const route = this.#host.route();
    if (!this.#failure || !route) return;
    await this.replay(route);
    if (this.#failure) throw this.#failure;
  }

  stop(): void {
    this.#cancel?.();
    this.#cancel = undefined;
  }
}
