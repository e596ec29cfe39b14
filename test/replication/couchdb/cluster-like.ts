import type { RemoteFetch } from '../../../src/replication/index.ts';

interface Changes {
  results: { seq: unknown }[];
  last_seq: unknown;
}

/**
 * Makes one node behave as a cluster may: sequence numbers are opaque strings, rows come again, and
 * in another order.
 *
 * @param random From 0 to 1.
 */
export function clusterLike(fetch: RemoteFetch, random: () => number): RemoteFetch {
  return async (url, init) => {
    const asked = new URL(url);
    if (!asked.pathname.endsWith('/_changes')) return fetch(url, init);
    const isFeed = asked.searchParams.has('feed');
    const given = asked.searchParams.get('since') ?? '0';
    if (given !== 'now') {
      const since = numberIn(given);
      // A poll that began earlier would ring at once, for ever.
      const from = isFeed ? since : Math.max(0, since - Math.floor(random() * 4));
      asked.searchParams.set('since', String(from));
    }
    const response = await fetch(asked.href, init);
    if (response.status !== 200) return response;
    const body = (await response.json()) as Changes;
    body.results = shuffled(body.results, random);
    for (const row of body.results) row.seq = opaque(row.seq);
    body.last_seq = opaque(body.last_seq);
    return Response.json(body);
  };
}

/** The same each time, and not evenly spread. */
export function numbers(): () => number {
  let state = 1;
  return () => {
    state = (state * 48_271) % 2_147_483_647;
    return state / 2_147_483_647;
  };
}

function opaque(sequence: unknown): string {
  return `${sequence}-${btoa(`g1AAAA ${sequence}`)}`;
}

function numberIn(sequence: string): number {
  if (sequence === '0') return 0;
  const [number = '', packed = ''] = sequence.split('-');
  if (atob(packed) !== `g1AAAA ${number}`) throw new Error(`${sequence} is not from here`);
  return Number(number);
}

function shuffled<T>(rows: readonly T[], random: () => number): T[] {
  return rows
    .map((row) => ({ row, rank: random() }))
    .sort((a, b) => a.rank - b.rank)
    .map(({ row }) => row);
}
