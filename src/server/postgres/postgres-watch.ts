import { Waiters } from '../store.ts';

/**
 * Listens to a channel of Postgres on a connection of its own, and returns a function that ends
 * this. `onNotify` gets the payload of each notification; `onLost` is to be called when the
 * connection is lost: the store then listens anew.
 */
export type Listen = (
  channel: string,
  onNotify: (payload: string | undefined) => void,
  onLost: () => void,
) => Promise<() => unknown>;

/** The channel of `pg_notify` in postgres.sql. */
const CHANNEL = 'cairn';

/**
 * Wakes requests that wait for a change: by `LISTEN`, or by one question a second for all of them.
 */
export class PostgresWatch {
  readonly #answer: (text: string, values: unknown[]) => Promise<unknown>;
  readonly #poll: number;
  readonly #listen: Listen | undefined;
  readonly #waiters = new Waiters();
  #listening: Promise<() => unknown> | undefined;
  #polling: ReturnType<typeof setTimeout> | undefined;

  constructor(
    answer: (text: string, values: unknown[]) => Promise<unknown>,
    poll: number,
    listen: Listen | undefined,
  ) {
    this.#answer = answer;
    this.#poll = poll;
    this.#listen = listen;
  }

  async wait(
    collection: string,
    after: string,
    seq: number,
    signal: AbortSignal,
  ): Promise<boolean> {
    const unwanted = new AbortController();
    const onAbort = (): void => unwanted.abort();
    signal.addEventListener('abort', onAbort);
    if (signal.aborted) onAbort();
    try {
      // First wait, then ask: a change between the two rings.
      const rung = this.#waiters.wait(collection, seq, unwanted.signal);
      const asked = this.#isChanged(collection, after).then((changed) => changed || rung);
      return await Promise.race([rung, asked]);
    } finally {
      signal.removeEventListener('abort', onAbort);
      unwanted.abort();
    }
  }

  async close(): Promise<void> {
    const listening = this.#listening;
    this.#listening = undefined;
    clearTimeout(this.#polling);
    this.#polling = undefined;
    this.#waiters.ringAll();
    // One that has failed, as its server ended, leaves nothing to end.
    const end = await listening?.catch(() => undefined);
    await end?.();
  }

  async #isChanged(collection: string, after: string): Promise<boolean> {
    if (this.#listen) await this.#startListening(this.#listen);
    else this.#startPolling();
    const text = 'select to_json(cairn_changed($1::text, $2::text)) as answer';
    return (await this.#answer(text, [collection, after])) as boolean;
  }

  #startListening(listen: Listen): Promise<unknown> {
    if (this.#listening) return this.#listening;
    const onLost = (): void => {
      if (this.#listening !== listening) return;
      this.#listening = undefined;
      this.#waiters.ringAll(); // they may have missed a notification, and watch again
    };
    const listening = listen(CHANNEL, (payload) => this.#onNotify(payload), onLost);
    this.#listening = listening;
    listening.catch(onLost);
    return listening;
  }

  /** @param payload `<number of the change> <collection>` */
  #onNotify(payload: string | undefined): void {
    const [, seq, collection] = /^(\d+) (.*)$/s.exec(payload ?? '') ?? [];
    if (seq === undefined || collection === undefined) this.#waiters.ringAll();
    else this.#waiters.ring(collection, Number(seq));
  }

  #startPolling(): void {
    this.#polling ??= setTimeout(() => void this.#ask(), this.#poll);
  }

  async #ask(): Promise<void> {
    const text =
      "select coalesce(json_agg(c), '[]') as answer from cairn_collections c " +
      'where c.collection in (select json_array_elements_text($1::text::json))';
    try {
      const names = this.#waiters.collections();
      const changed = names.length > 0 ? await this.#answer(text, [JSON.stringify(names)]) : [];
      for (const { collection, seq } of changed as { collection: string; seq: number }[]) {
        this.#waiters.ring(collection, seq);
      }
    } catch {
      // The next watch meets the same failure and reports it.
    }
    this.#polling = undefined;
    if (this.#waiters.collections().length > 0) this.#startPolling();
  }
}
