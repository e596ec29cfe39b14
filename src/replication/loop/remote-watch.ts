import type { Clock } from '../../engine/scheduling/clock.ts';
import { Slowdown } from '../fetching/slowdown.ts';
import type { ReplicationSettings } from '../replication-options.ts';
import { failureOf } from '../rounds/remote-calls.ts';

type Watch = NonNullable<ReplicationSettings['remote']['watch']>;

/** Waits for news of a remote, where it can tell. */
export class RemoteWatch {
  readonly #watch: Watch | undefined;
  readonly #slowdown: Slowdown;

  constructor({ remote, direction }: ReplicationSettings, clock: Clock) {
    if (direction !== 'push') this.#watch = remote.watch?.bind(remote);
    this.#slowdown = new Slowdown(clock);
  }

  /**
   * Resolves when the server may have something new; `undefined` where it cannot tell.
   *
   * @param checkpoint Where the last round has pulled to.
   */
  until(checkpoint: string | undefined, signal: AbortSignal): Promise<void> | undefined {
    return this.#watch && this.#ring(this.#watch, checkpoint, signal);
  }

  async #ring(watch: Watch, checkpoint: string | undefined, signal: AbortSignal): Promise<void> {
    const after = checkpoint === undefined ? undefined : JSON.parse(checkpoint);
    try {
      await this.#slowdown.run(checkpoint, signal, async () => {
        for await (const _ of watch(after, { signal })) return;
      });
    } catch (cause) {
      throw failureOf(cause);
    }
  }
}
