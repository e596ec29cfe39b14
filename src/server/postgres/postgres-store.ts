import { OptionError } from '../../errors/errors.ts';
import type { PullAnswer } from '../../replication/protocol/http-answers.ts';
import {
  parseCheckpoint,
  type Store,
  type StoredRow,
  type StoreResult,
  type StoreRow,
} from '../store.ts';
import setupSql from './postgres.sql';
import { type Listen, PostgresWatch } from './postgres-watch.ts';
import { answerTo, isRefusal, type Query, refusalOf, sqlFailureOf } from './sql-state.ts';

/** Options of {@link postgres}. */
export interface PostgresOptions {
  /**
   * `LISTEN` on a connection of its own: `watch` then answers at once. Without it the store asks
   * each second.
   */
  readonly listen?: Listen;
  /** Milliseconds between two questions without `listen`. Default 1000. */
  readonly poll?: number;
}

/** A {@link Store} in Postgres, see {@link postgres}. */
export interface PostgresStore extends Store {
  setup(): Promise<void>;
  close(): Promise<void>;
}

/**
 * A store in PostgreSQL 13 or newer: three tables and a few functions, which `setup()` creates in
 * the first schema of the search path. Any number of processes may use the same tables.
 *
 * @example
 * ```ts
 * const pool = new pg.Pool();
 * const store = postgres((text, values) => pool.query(text, values));
 * await store.setup();
 * ```
 */
export function postgres(query: Query, options: PostgresOptions = {}): PostgresStore {
  if (typeof query !== 'function') {
    const message =
      '"query" must be a function, such as (text, values) => pool.query(text, values).';
    throw new OptionError('option_invalid', message, { place: 'query' });
  }
  return new StoreInPostgres(query, options);
}

/**
 * NUL and lone surrogates in JSON, as `JSON.stringify` writes them: Postgres cannot store such
 * text.
 */
const UNSTORABLE = /(?<!\\)(?:\\\\)*\\u(?:0000|d[89a-f])/;

const TEXT_REFUSED: StoreResult = {
  rejected: { reason: 'The server cannot store the character NUL, nor half of a surrogate pair.' },
};

class StoreInPostgres implements PostgresStore {
  readonly #query: Query;
  readonly #watch: PostgresWatch;

  constructor(query: Query, { listen, poll = 1000 }: PostgresOptions) {
    this.#query = query;
    this.#watch = new PostgresWatch((text, values) => this.#answer(text, values), poll, listen);
  }

  async setup(): Promise<void> {
    await this.#query(setupSql);
  }

  async pull(collection: string, after: string | undefined, limit: number): Promise<PullAnswer> {
    return JSON.parse(await this.pullText(collection, after, limit)) as PullAnswer;
  }

  async pullText(collection: string, after: string | undefined, limit: number): Promise<string> {
    if (after !== undefined) parseCheckpoint(after);
    const text = 'select cairn_pull($1::text, $2::text, $3::int)::text as answer';
    return this.#run<string>(text, [collection, after ?? null, limit]);
  }

  async push(collection: string, rows: readonly StoreRow[]): Promise<readonly StoreResult[]> {
    const texts = rows.map((row) => JSON.stringify(row));
    const storable = texts.flatMap((text, index) => (UNSTORABLE.test(text) ? [] : [index]));
    const results = new Array<StoreResult>(rows.length).fill(TEXT_REFUSED);
    const made = await this.#pushTexts(
      collection,
      storable.map((index) => texts[index] as string),
    );
    for (const [at, index] of storable.entries()) results[index] = made[at] as StoreResult;
    return results;
  }

  async read(collection: string, ids: readonly string[]): Promise<readonly StoredRow[]> {
    const storable = ids.map((id) => JSON.stringify(id)).filter((id) => !UNSTORABLE.test(id));
    const text =
      'select cairn_read($1::text, array(select json_array_elements_text($2::text::json))) as answer';
    return (await this.#answer(text, [collection, `[${storable.join(',')}]`])) as StoredRow[];
  }

  async served(
    collection: string,
    scope: string,
    ids: readonly string[],
    asked: readonly string[],
  ): Promise<readonly string[]> {
    if (ids.length + asked.length === 0) return [];
    const [seen, other] = [ids, asked].map((list) => JSON.stringify(list));
    const text =
      'select cairn_served($1::text, $2::text, $3::text::json, $4::text::json) as answer';
    return (await this.#answer(text, [collection, scope, seen, other])) as string[];
  }

  async watch(collection: string, after: string, signal: AbortSignal): Promise<boolean> {
    return this.#watch.wait(collection, after, parseCheckpoint(after).seq, signal);
  }

  async close(): Promise<void> {
    await this.#watch.close();
  }

  /**
   * What a trigger or constraint of the application refuses fails the whole statement: then row by
   * row.
   */
  async #pushTexts(collection: string, texts: readonly string[]): Promise<readonly StoreResult[]> {
    if (texts.length === 0) return [];
    try {
      return (await this.#answer('select cairn_push($1::text, $2::text::json) as answer', [
        collection,
        `[${texts.join(',')}]`,
      ])) as StoreResult[];
    } catch (error) {
      if (!isRefusal(error)) throw error;
      if (texts.length === 1) return [refusalOf(error)];
      const results: StoreResult[] = [];
      for (const text of texts) results.push(...(await this.#pushTexts(collection, [text])));
      return results;
    }
  }

  async #answer(text: string, values: unknown[]): Promise<unknown> {
    const answer = await this.#run(text, values);
    // A driver may be set to leave JSON as text.
    return typeof answer === 'string' ? JSON.parse(answer) : answer;
  }

  async #run<Answer>(text: string, values: unknown[]): Promise<Answer> {
    try {
      return (await answerTo(this.#query, text, values)) as Answer;
    } catch (error) {
      throw sqlFailureOf(error);
    }
  }
}
