import { readFileSync } from 'node:fs';
import type pg from 'pg';
import type { SupabaseAnswer, SupabaseLike } from '../../src/supabase/index.ts';
import { type Cluster, startCluster } from '../../tools/servers/cluster.mjs';
import { connectionsTo } from './connections.ts';

/**
 * What stands for a project of Supabase: a real PostgreSQL with the roles of Supabase. A call of a
 * function is made as PostgREST does it: arguments by the names and types of the function, a
 * transaction with the role and the claims of the user, errors with the status of PostgREST. In
 * the place of Realtime, channels are rung after each transaction.
 */
export class SupabaseStandIn {
  readonly cluster: Cluster;
  readonly pool: pg.Pool;
  /** Of calls: may lose requests and answers. */
  fault: (name: string) => 'request' | 'answer' | undefined = () => undefined;
  readonly calls: string[] = [];
  readonly #rings = new Set<() => void>();

  static async start(): Promise<SupabaseStandIn> {
    const cluster = await startCluster();
    const made = new SupabaseStandIn(cluster);
    // Its transactions would hold back what a test looks for.
    await made.pool.query('alter system set autovacuum = off');
    await made.pool.query('select pg_reload_conf()');
    await made.pool.query(`
      create role anon; create role authenticated;
      create schema auth;
      create function auth.uid() returns text language sql stable as $$
        select nullif(current_setting('request.jwt.claims', true), '')::json->>'sub' $$;
      grant usage on schema auth, public to anon, authenticated;
      alter default privileges in schema public grant all on tables to anon, authenticated;
      alter default privileges in schema public grant execute on functions to anon, authenticated;`);
    await made.install();
    return made;
  }

  constructor(cluster: Cluster) {
    this.cluster = cluster;
    this.pool = connectionsTo(cluster.folder, 'public', 20);
  }

  async install(): Promise<void> {
    const file = new URL('../../src/supabase/supabase.sql', import.meta.url);
    await this.pool.query(readFileSync(file, 'utf8'));
  }

  async stop(): Promise<void> {
    await this.pool.end();
    await this.cluster.remove();
  }

  /** As another program, which is not asked for its rights. */
  async sql(text: string, values?: unknown[]): Promise<any[]> {
    const { rows } = await this.pool.query(text, values);
    this.ring();
    return rows;
  }

  ring(): void {
    for (const ring of this.#rings) setTimeout(ring);
  }

  /** The client of a user; without one of somebody who has not logged in. */
  client(user?: string): SupabaseLike {
    const role = user === undefined ? 'anon' : 'authenticated';
    const claims = JSON.stringify({ role, ...(user !== undefined && { sub: user }) });
    return {
      rpc: (name: string, args?: object) => this.#rpc(role, claims, name, args ?? {}),
      channel: () => {
        const calls: (() => void)[] = [];
        const channel = {
          on(_type: string, _filter: object, call: () => void) {
            calls.push(call);
            return channel;
          },
          subscribe: (call?: (status: string) => void) => {
            for (const ring of calls) this.#rings.add(ring);
            setTimeout(() => call?.('SUBSCRIBED'));
            return channel;
          },
          end: () => {
            for (const ring of calls) this.#rings.delete(ring);
          },
        };
        return channel;
      },
      removeChannel: (channel: { end(): void }) => channel.end(),
    };
  }

  async #rpc(role: string, claims: string, name: string, args: object): Promise<SupabaseAnswer> {
    this.calls.push(name);
    const fault = this.fault(name);
    const lost = {
      ...{ data: null, status: 0 },
      error: { message: 'TypeError: fetch failed', details: '', hint: '', code: '' },
    };
    if (fault === 'request') return lost;
    const answer = await this.#transaction(role, claims, name, args);
    return fault === 'answer' ? lost : answer;
  }

  async #transaction(
    role: string,
    claims: string,
    name: string,
    args: object,
  ): Promise<SupabaseAnswer> {
    const connection = await this.pool.connect();
    try {
      const { rows: found } = await connection.query(
        `select string_agg(format('%I %s', a.name, format_type(p.proargtypes[a.n - 1], null)), ', ') as types,
           string_agg(format('%I := _.%1$I', a.name), ', ') as given
         from pg_proc p, unnest(p.proargnames) with ordinality as a(name, n)
         where p.proname = $1 and a.name in (select json_object_keys($2::json))`,
        [name, JSON.stringify(args)],
      );
      await connection.query('begin');
      await connection.query(`set local role ${role}`);
      await connection.query("select set_config('request.jwt.claims', $1, true)", [claims]);
      const { types, given } = found[0];
      const { rows } = await connection.query(
        `select ${name}(${given}) as answer from json_to_record($1::json) as _(${types})`,
        [JSON.stringify(args)],
      );
      await connection.query('commit');
      if (name.endsWith('push')) this.ring();
      return { data: rows[0].answer, error: null, status: 200 };
    } catch (error) {
      await connection.query('rollback').catch(() => undefined);
      const { message, code = '' } = error as { message: string; code?: string };
      return { data: null, error: { message, code }, status: statusOf(code, role) };
    } finally {
      connection.release();
    }
  }
}

/** By docs.postgrest.org, "Status codes". */
function statusOf(code: string, role: string): number {
  if (code === '42501') return role === 'anon' ? 401 : 403;
  if (/^(?:42883|42P01)$/.test(code)) return 404;
  if (/^(?:23503|23505)$/.test(code)) return 409;
  if (/^(?:08|53)/.test(code)) return 503;
  if (/^(?:25|40|54|55|57|58|XX)/.test(code)) return 500;
  return 400;
}
