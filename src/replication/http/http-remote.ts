import type { Clock } from '../../engine/scheduling/clock.ts';
import { blameless, OversizedAnswer, RefusedError } from '../fetching/answer-errors.ts';
import { Fetcher, type FetcherSettings } from '../fetching/fetcher.ts';
import { callByHalves } from '../fetching/halves.ts';
import { LongPoll } from '../fetching/long-poll.ts';
import { batchesOf, encodeRows, type SendableRow } from '../fetching/push-batches.ts';
import {
  readErrorAnswer,
  readPullAnswer,
  readPushAnswer,
  readWatchAnswer,
} from '../protocol/http-answers.ts';
import { toWireRow, type WireRow } from '../protocol/http-requests.ts';
import type { LocalChange, PulledPage, PushResult, Remote } from '../protocol/remote.ts';

/** Twice as long as a server holds a request: a silent one is lost. */
const SILENCE_MS = 50_000;

type Ask = { readonly signal: AbortSignal };

/** See `http()`. */
export class HttpRemote implements Remote<string> {
  readonly id: string;
  readonly #url: string;
  readonly #fetcher: Fetcher;
  readonly #poll: LongPoll;

  constructor(
    { url, headers, fetch }: Pick<FetcherSettings, 'headers' | 'fetch'> & { readonly url: string },
    clock: Clock,
  ) {
    this.id = `http:${url}`;
    this.#url = url;
    this.#fetcher = new Fetcher({ headers, fetch, readRefusal: readErrorAnswer, clock });
    this.#poll = new LongPoll(clock, SILENCE_MS);
  }

  async pull(
    after: string | undefined,
    ask: Ask & { readonly limit: number },
  ): Promise<PulledPage<string>> {
    const { limit, signal } = ask;
    try {
      return await this.#call('pull', { after: after ?? null, limit }, signal, (body) =>
        readPullAnswer(body, limit),
      );
    } catch (error) {
      if (error instanceof OversizedAnswer && limit > 1)
        return this.pull(after, { limit: Math.ceil(limit / 2), signal });
      // Another server has this URL now.
      const isForeign =
        error instanceof RefusedError && error.refusal?.code === 'checkpoint_invalid';
      if (after === undefined || !isForeign) throw error;
      return { ...(await this.pull(undefined, ask)), reset: true };
    }
  }

  async push(rows: readonly LocalChange[], { signal }: Ask): Promise<PushResult[]> {
    const { sendable, results } = encodeRows(rows, toWireRow);
    for (const batch of batchesOf(sendable)) {
      // Rows that come again have their keys: the server answers them as at first.
      const made = await callByHalves(
        batch,
        (rows) => this.#push(rows, signal),
        () => [{ rejected: { reason: "The server's document is too large." } }],
      );
      for (const [at, { index }] of batch.entries()) results[index] = made[at] as PushResult;
    }
    return results;
  }

  async *watch(after: string, { signal }: Ask): AsyncIterable<void> {
    for (;;) {
      await this.#poll.wait(after, signal, async (polling, onBytes) => {
        const read = (body: unknown) => readWatchAnswer(body).changed;
        return await this.#call('watch', { after }, polling, read, onBytes);
      });
      yield;
    }
  }

  async #push(batch: readonly SendableRow<WireRow>[], signal: AbortSignal): Promise<PushResult[]> {
    const rows = batch.map(({ row }) => row);
    try {
      return await this.#call('push', { rows: batch.map(({ wire }) => wire) }, signal, (body) =>
        readPushAnswer(body, rows),
      );
    } catch (error) {
      throw blameless(error);
    }
  }

  #call<T>(
    route: 'pull' | 'push' | 'watch',
    body: object,
    signal: AbortSignal,
    read: (body: unknown) => T,
    onBytes?: () => void,
  ): Promise<T> {
    const url = `${this.#url}/${route}`;
    return this.#fetcher.fetch({ url, body, signal, onBytes }, read);
  }
}
