import { checkOptions } from '../api/options/option-checks.ts';
import { type Clock, systemClock } from '../async/clock.ts';
import { documentDefect } from '../codec/exact-json/document-defect.ts';
import { bodySize } from '../codec/size.ts';
import { Malformed, ValueError } from '../errors/errors.ts';
import { ReplicationError } from '../errors/replication-error.ts';
import { orAborted } from '../page/sending/call-arguments.ts';
import {
  answerInvalid,
  blameless,
  OversizedAnswer,
  refused,
} from '../replication/fetching/answer-errors.ts';
import { MAX_ANSWER_BYTES } from '../replication/fetching/fetcher.ts';
import { batchesOf, encodeRows } from '../replication/fetching/push-batches.ts';
import {
  MAX_REASON,
  readPullAnswer,
  readPushAnswer,
} from '../replication/protocol/http-answers.ts';
import { isIdTooLong } from '../replication/protocol/http-fields.ts';
import { toWireRow, type WireRow } from '../replication/protocol/http-requests.ts';
import type {
  LocalChange,
  PulledPage,
  PushResult,
  Remote,
  ReplicationScope,
} from '../replication/protocol/remote.ts';
import { type SupabaseAnswer, type SupabaseLike, TableChanges } from './table-changes.ts';

export type { SupabaseAnswer, SupabaseChannel, SupabaseLike } from './table-changes.ts';

/** Options of {@link supabase}. */
export interface SupabaseOptions {
  /** Of `createClient()`: its session says who reads and writes. */
  readonly client: SupabaseLike;
  /** As in SQL, such as `todos` or `crm.todos`; `cairn_table()` was called for it. */
  readonly table: string;
}

/** Codes of PostgreSQL for what passes. */
const PASSING = /^(?:08|40|53|55P03|57)/;

/** Text that PostgreSQL does not store. */
const UNSTORABLE = /[\0\p{Cs}]/u;

type PullAsk = Parameters<Remote<string>['pull']>[1];
type WatchAsk = Parameters<NonNullable<Remote<string>['watch']>>[1];

class SupabaseRemote implements Remote<string> {
  readonly id: string;
  readonly scopes = true;
  readonly watch?: NonNullable<Remote<string>['watch']>;
  readonly #client: SupabaseLike;
  readonly #table: string;
  readonly #changes: TableChanges;

  constructor({ client, table }: SupabaseOptions, clock: Clock) {
    this.id = `supabase:${table}`;
    this.#client = client;
    this.#table = table;
    this.#changes = new TableChanges(client, table, clock);
    if (client.channel) this.watch = this.#watch;
  }

  async pull(after: string | undefined, ask: PullAsk): Promise<PulledPage<string>> {
    const heard = this.#changes.heard;
    const page = await this.#pull(after, ask);
    if (!page.more && !page.behind) this.#changes.seen(placeOf(page.checkpoint, ask.scope), heard);
    return page;
  }

  async push(
    rows: readonly LocalChange[],
    { signal }: { readonly signal: AbortSignal },
  ): Promise<PushResult[]> {
    const { sendable, results } = encodeRows(rows, (row): WireRow => {
      if (isIdTooLong(row.id) || UNSTORABLE.test(row.id))
        throw new ValueError('value_unsupported', 'PostgreSQL does not take this id.');
      return toWireRow({ ...row, operations: undefined, device: undefined });
    });
    for (const batch of batchesOf(sendable)) {
      const asked = { rows: batch.map(({ wire }) => wire) };
      const sent = batch.map(({ row }) => row);
      const read = (body: unknown) =>
        readPushAnswer({ results: Array.isArray(body) ? body.map(readable) : body }, sent);
      const made = await this.#call('push', asked, signal, read).catch((error: unknown) => {
        throw blameless(error);
      });
      for (const [at, { index }] of batch.entries()) results[index] = made[at] as PushResult;
    }
    return results;
  }

  async *#watch(after: string, { signal, scopes }: WatchAsk): AsyncIterable<void> {
    const places = (scopes ?? [{ after }]) as { after: string; scope?: ReplicationScope }[];
    const names = places.map((one) => placeOf(one.after, one.scope));
    const look = async () => {
      let isBehind = false;
      for (const { after: from, scope } of places) {
        const page = await this.#pull(from, { limit: 1, signal, scope });
        if (page.changes.length > 0 || page.more || page.reset) return 'changed';
        isBehind ||= page.behind;
      }
      return isBehind ? 'behind' : 'same';
    };
    for (;;) {
      await this.#changes.wait(names, look, signal);
      yield;
    }
  }

  #pull(after: string | undefined, { limit, signal, scope }: PullAsk) {
    const asked = { after: after ?? null, limit, scope: scope ?? null };
    return this.#call('pull', asked, signal, (body) => ({
      ...readPullAnswer(withoutBroken(body), limit, scope !== undefined),
      /** There is something that a pull gets only later. */
      behind: (body as { readonly behind?: unknown }).behind === true,
    }));
  }

  async #call<T>(
    route: 'pull' | 'push',
    args: object,
    signal: AbortSignal,
    read: (body: unknown) => T,
  ): Promise<T> {
    signal.throwIfAborted();
    const name = `cairn_table_${route}`;
    const made = this.#client.rpc(name as never, { tbl: this.#table, ...args } as never);
    const { abortSignal } = made as { abortSignal?: (signal: AbortSignal) => typeof made };
    const sent = abortSignal ? abortSignal.call(made, signal) : made;
    const { data, error, status } = await orAborted(Promise.resolve(sent), signal);
    if (error) throw failureOf(error, status, name);
    // Its client has parsed it by now; nothing of it is worked with.
    if (bodySize({ exact: data }) > MAX_ANSWER_BYTES)
      throw new OversizedAnswer(name, MAX_ANSWER_BYTES);
    try {
      return read(data);
    } catch (cause) {
      if (!(cause instanceof Malformed)) throw cause;
      throw answerInvalid(name, cause.message, cause);
    }
  }
}

/** What a row may be that another user has written with a client of his own. */
interface GivenRow {
  readonly id?: unknown;
  readonly key?: unknown;
  readonly document?: unknown;
}

/** One row that others have broken must not stop all: it is rejected. */
function withoutBroken(body: unknown): unknown {
  const { changes, rejected: large = [] } = (body ?? {}) as {
    readonly changes?: unknown;
    readonly rejected?: unknown;
  };
  if (!Array.isArray(changes) || !Array.isArray(large)) return body;
  const rejected: object[] = [...large];
  const whole = (changes as GivenRow[]).filter(({ id, document }) => {
    if (typeof id !== 'string' || id === '') return false;
    const defect = document === undefined ? undefined : documentDefect(document, id);
    if (defect !== undefined) rejected.push({ id, reason: `The document is invalid: ${defect}.` });
    return defect === undefined;
  });
  return { ...(body as object), changes: whole.map(withKey), rejected };
}

/** A conflict with a broken document cannot be resolved here. */
function readable(result: unknown): unknown {
  const { conflict, document, ...rest } = (result ?? {}) as {
    readonly conflict?: GivenRow;
    readonly document?: { readonly _id?: unknown } | null;
  };
  const stored = (conflict ? conflict.document : document) as { readonly _id?: unknown } | null;
  const defect = stored && documentDefect(stored, String(conflict ? conflict.id : stored._id));
  if (defect) return { rejected: { reason: `The document of the server is invalid: ${defect}.` } };
  return conflict
    ? { conflict: withKey(conflict) }
    : { ...rest, ...(document !== undefined && { document }) };
}

/** A key that no device makes is the key of nobody here. */
function withKey<T extends GivenRow>(row: T): T {
  return /^[\x20-\x7e]{1,200}$/.test(String(row.key)) ? row : { ...row, key: '-' };
}

function placeOf(checkpoint: string, scope: ReplicationScope | undefined): string {
  return `${checkpoint} ${JSON.stringify(scope)}`;
}

function failureOf(
  error: NonNullable<SupabaseAnswer['error']>,
  status: number,
  place: string,
): ReplicationError {
  const message = error.message.slice(0, MAX_REASON);
  const { code = '' } = error;
  if (!(status >= 400 && status <= 599))
    return new ReplicationError('remote_offline', `Supabase cannot be reached: ${message}`, {
      place,
    });
  if (PASSING.test(code))
    return new ReplicationError('remote_failed', `${place}: ${code}, ${message}`, { place });
  return refused(new Response(null, { status }), place, { code, message }, 0);
}

/**
 * A table of Supabase, straight from the page: row level security decides what the user reads and
 * writes. Its rows are the documents, and columns are fields where they have the same name. Other
 * programs read and write the table as before.
 *
 * `cairndb/supabase.sql` has the functions that it calls. Call `cairn_table('todos')` once for each
 * table.
 *
 * @throws {OptionError} with the invalid option.
 *
 * @example
 * ```ts
 * const client = createClient('https://example.supabase.co', publicKey);
 * const sync = replicate(todos, { remote: supabase({ client, table: 'todos' }) });
 * ```
 */
export function supabase(options: SupabaseOptions): Remote<string> {
  const checks = {
    client: {
      allowed: 'a client of createClient()',
      test: (value: unknown) => typeof (value as Partial<SupabaseLike>)?.rpc === 'function',
      required: true,
    },
    table: {
      allowed: 'the name of a table',
      test: (value: unknown) => typeof value === 'string' && value.length > 0,
      required: true,
    },
  };
  const given = checkOptions(options, checks, 'supabase(options)') as unknown as SupabaseOptions;
  return new SupabaseRemote(given, systemClock);
}
