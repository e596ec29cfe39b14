import type { Clock } from '../async/clock.ts';
import { pauseFor } from '../replication/fetching/slowdown.ts';

/** What a call of a function answers. */
export interface SupabaseAnswer {
  readonly data: unknown;
  readonly error: { readonly message: string; readonly code?: string } | null;
  /** Of HTTP; 0 where there was no answer. */
  readonly status: number;
}

/** A channel of Realtime, as far as it is used. */
export interface SupabaseChannel {
  on(type: 'postgres_changes', filter: never, call: () => void): unknown;
  subscribe(call?: (status: string) => void): unknown;
}

/** What is used of the client of `@supabase/supabase-js`. */
export interface SupabaseLike {
  rpc(name: never, args?: never): PromiseLike<SupabaseAnswer>;
  /** Left out: changes come by a poll every 15 seconds. */
  channel?(name: string): SupabaseChannel;
  removeChannel?(channel: never): unknown;
}

/** Realtime may lose an event, or not have the table: it is asked so often, too. */
const LOOK_MS = 60_000;
/** The same while there is no connection to Realtime. */
const ALONE_MS = 15_000;
/** What is visible, and has no place yet, as another transaction is open: first and last delay. */
const BEHIND_MS = [50, 10_000] as const;
/** A channel stays so long for the next round. */
const LINGER_MS = 10_000;

let names = 0;

/** Tells when a table may have changed: by Realtime, whose events say no more than that. */
export class TableChanges {
  /** Events so far. */
  heard = 0;
  readonly #client: SupabaseLike;
  readonly #table: string;
  readonly #clock: Clock;
  /** The places behind which there was nothing, and what was heard before they were looked at. */
  readonly #seen = new Map<string, number>();
  readonly #waiting = new Set<() => void>();
  #channel: SupabaseChannel | undefined;
  #isConnected = false;
  #users = 0;
  #endLinger: (() => void) | undefined;

  constructor(client: SupabaseLike, table: string, clock: Clock) {
    this.#client = client;
    this.#table = table;
    this.#clock = clock;
  }

  /** There was nothing behind a place, as of what was heard. */
  seen(place: string, heard: number): void {
    // Without a connection it says nothing of what came since.
    if (!this.#isConnected) return;
    if (this.#seen.size > 100) this.#seen.clear();
    this.#seen.set(place, heard);
  }

  /** Resolves when there is something behind one of the places. */
  async wait(
    places: readonly string[],
    look: () => Promise<'changed' | 'behind' | 'same'>,
    signal: AbortSignal,
  ): Promise<void> {
    signal.throwIfAborted();
    this.#open();
    let [delay, longest] = BEHIND_MS as readonly number[] as [number, number];
    try {
      for (let isDue = false; ; ) {
        const { heard } = this;
        let found: Awaited<ReturnType<typeof look>> = 'same';
        if (isDue || !places.every((place) => this.#seen.get(place) === heard)) {
          found = await look();
          if (found === 'changed') return;
          if (found === 'same') for (const place of places) this.seen(place, heard);
        }
        const pause = found === 'behind' ? delay : this.#isConnected ? LOOK_MS : ALONE_MS;
        if (found === 'behind') delay = Math.min(longest, 2 * delay);
        isDue = !(await this.#ring(heard, pause, signal));
      }
    } finally {
      this.#leave();
    }
  }

  /** Whether something was heard since; `false`: not in time. */
  async #ring(heard: number, ms: number, signal: AbortSignal): Promise<boolean> {
    if (this.heard !== heard) return true;
    let ring = (): void => undefined;
    const rung = new Promise<boolean>((resolve) => {
      ring = () => resolve(true);
      this.#waiting.add(ring);
    });
    const isRung = await pauseFor(this.#clock, ms, signal, rung).finally(() => {
      this.#waiting.delete(ring);
    });
    return isRung === true;
  }

  readonly #hear = (): void => {
    this.heard++;
    for (const ring of [...this.#waiting]) ring();
  };

  #open(): void {
    this.#users++;
    this.#endLinger?.();
    this.#endLinger = undefined;
    if (this.#channel) return;
    const channel = this.#client.channel?.(`cairn:${this.#table}:${++names}`);
    if (!channel) return;
    this.#channel = channel;
    const [table = '', schema = 'public'] = this.#table.split('.').reverse().map(unquoted);
    for (const name of [table, `${table}_gone`])
      channel.on('postgres_changes', { event: '*', schema, table: name } as never, this.#hear);
    channel.subscribe((status) => {
      if (this.#channel !== channel) return;
      this.#isConnected = status === 'SUBSCRIBED';
      this.#hear();
    });
  }

  #leave(): void {
    if (--this.#users > 0) return;
    this.#endLinger = this.#clock.after(
      LINGER_MS,
      () => {
        const channel = this.#channel;
        this.#channel = undefined;
        this.#isConnected = false;
        this.#seen.clear();
        if (channel) this.#client.removeChannel?.(channel as never);
      },
      true,
    );
  }
}

/** The name that an identifier of SQL stands for. */
function unquoted(name: string): string {
  return name.startsWith('"') ? name.slice(1, -1).replaceAll('""', '"') : name.toLowerCase();
}
