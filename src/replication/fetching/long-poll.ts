import type { Clock } from '../../async/clock.ts';
import { ReplicationError } from '../../errors/replication-error.ts';
import { orAborted } from '../../page/sending/call-arguments.ts';
import { followRequests } from './fetcher.ts';
import { slowedDown } from './slowdown.ts';

/** Asks a server for changes and waits while it holds the request. */
export type Poll = (signal: AbortSignal) => Promise<boolean>;

/**
 * Repeats long polls, and slows down where the server does not hold them.
 *
 * @param silenceMs A poll without a byte for so long has failed.
 */
export function longPoll(clock: Clock, silenceMs: number) {
  const run = slowedDown(clock);

  /** @returns `undefined` if the server was silent. */
  async function pollOnce(ended: AbortSignal, poll: Poll): Promise<boolean | undefined> {
    ended.throwIfAborted();
    const controller = new AbortController();
    const { signal } = controller;
    const end = () => controller.abort(ended.reason);
    ended.addEventListener('abort', end);
    let cancel: (() => void) | undefined;
    const listen = () => {
      cancel?.();
      cancel = clock.after(silenceMs, () => controller.abort(SILENT), true);
    };
    listen();
    followRequests(signal, { received: listen });
    try {
      // The poll may not heed its signal.
      return await orAborted(poll(signal), signal);
    } catch (error) {
      if (error === SILENT) return undefined;
      throw error;
    } finally {
      cancel?.();
      ended.removeEventListener('abort', end);
    }
  }

  /**
   * Resolves when the server has changes.
   *
   * @param after Names the checkpoint: answers that bring no progress come from a faulty server.
   * @throws {ReplicationError} `remote_timeout` after two silent polls in a row; the reason of the
   *   signal; the error of the poll.
   */
  return async (after: string, signal: AbortSignal, poll: Poll): Promise<void> => {
    for (let silent = 0; ; ) {
      const changed = await run(after, signal, () => pollOnce(signal, poll));
      if (changed) return;
      silent = changed === undefined ? silent + 1 : 0;
      if (silent === 2)
        throw new ReplicationError(
          'remote_timeout',
          `The server has sent nothing for ${(2 * silenceMs) / 1000} s.`,
        );
    }
  };
}

const SILENT = Symbol('silent');
