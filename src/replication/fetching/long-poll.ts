import { orAborted } from '../../collection/calls/first-call.ts';
import type { Clock } from '../../engine/scheduling/clock.ts';
import { ReplicationError } from '../../errors/replication-error.ts';

/** A poll that ended sooner, and brought nothing, was not held by the server. */
const HELD_MS = 5000;

/** Delays after polls that brought nothing: from the first, doubled up to the last. */
const FIRST_PAUSE_MS = 1000;
const LAST_PAUSE_MS = 60_000;

/** Asks a server for news and waits while it holds the request. @param onBytes Call it when the server sent something. */
export type Poll = (signal: AbortSignal, onBytes: () => void) => Promise<boolean>;

/** Repeats long polls: begins silent ones anew, and slows down where the server does not hold them. */
export class LongPoll {
  readonly #clock: Clock;
  readonly #silenceMs: number;
  /** The checkpoint of the last poll. */
  #after: string | undefined;
  /** Polls for that checkpoint that ended early. */
  #early = 0;

  /** @param silenceMs A poll without a byte for so long has failed. */
  constructor(clock: Clock, silenceMs: number) {
    this.#clock = clock;
    this.#silenceMs = silenceMs;
  }

  /**
   * Resolves when the server has news.
   *
   * @param after Names the checkpoint: news that bring no progress are news of a faulty server.
   * @throws {ReplicationError} `remote_timeout` after two silent polls in a row; the reason of the signal; the error of
   *   the poll.
   */
  async wait(after: string, signal: AbortSignal, poll: Poll): Promise<void> {
    if (after !== this.#after) this.#early = 0;
    this.#after = after;
    for (let silent = 0; ; ) {
      await this.#pause(signal);
      const began = this.#clock.elapsed();
      const changed = await this.#poll(signal, poll);
      const isHeld = this.#clock.elapsed() - began >= HELD_MS;
      this.#early = isHeld ? 0 : this.#early + 1;
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

  /** The first poll that ended early may have had real news. */
  async #pause(signal: AbortSignal): Promise<void> {
    if (this.#early < 2) return;
    const ms = Math.min(LAST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** Math.min(this.#early - 2, 16));
    let cancel: (() => void) | undefined;
    const due = new Promise<void>((resolve) => {
      cancel = this.#clock.after(ms, resolve, true);
    });
    try {
      await orAborted(due, signal);
    } finally {
      cancel?.();
    }
  }
}

const SILENT = Symbol('silent');
