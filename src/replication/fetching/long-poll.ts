import type { Clock } from '../../async/clock.ts';
import { ReplicationError } from '../../errors/replication-error.ts';
import { orAborted } from '../../page/sending/call-arguments.ts';
import { Slowdown } from './slowdown.ts';

/**
 * Asks a server for changes and waits while it holds the request. @param onBytes Call it when the
 * server sent something.
 */
export type Poll = (signal: AbortSignal, onBytes: () => void) => Promise<boolean>;

/** Repeats long polls, and slows down where the server does not hold them. */
export class LongPoll {
  readonly #clock: Clock;
  readonly #silenceMs: number;
  readonly #slowdown: Slowdown;

  /** @param silenceMs A poll without a byte for so long has failed. */
  constructor(clock: Clock, silenceMs: number) {
    this.#clock = clock;
    this.#silenceMs = silenceMs;
    this.#slowdown = new Slowdown(clock);
  }

  /**
   * Resolves when the server has changes.
   *
   * @param after Names the checkpoint: answers that bring no progress come from a faulty server.
   * @throws {ReplicationError} `remote_timeout` after two silent polls in a row; the reason of the
   *   signal; the error of the poll.
   */
  async wait(after: string, signal: AbortSignal, poll: Poll): Promise<void> {
    for (let silent = 0; ; ) {
      const changed = await this.#slowdown.run(after, signal, () => this.#poll(signal, poll));
      if (changed) return;
      silent = changed === undefined ? silent + 1 : 0;
      if (silent === 2)
        throw new ReplicationError(
          'remote_timeout',
          `The server has sent nothing for ${(2 * this.#silenceMs) / 1000} s.`,
        );
    }
  }

  /** @returns `undefined` if the server was silent. */
  async #poll(ended: AbortSignal, poll: Poll): Promise<boolean | undefined> {
    ended.throwIfAborted();
    const controller = new AbortController();
    const { signal } = controller;
    const end = () => controller.abort(ended.reason);
    ended.addEventListener('abort', end);
    let cancel: (() => void) | undefined;
    const listen = () => {
      cancel?.();
      cancel = this.#clock.after(this.#silenceMs, () => controller.abort(SILENT), true);
    };
    listen();
    try {
      // The poll may not heed its signal.
      return await orAborted(poll(signal, listen), signal);
    } catch (error) {
      if (error === SILENT) return undefined;
      throw error;
    } finally {
      cancel?.();
      ended.removeEventListener('abort', end);
    }
  }
}

const SILENT = Symbol('silent');
