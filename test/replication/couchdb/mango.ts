import type { RemoteFetch } from '../../../src/replication/index.ts';

type Fields = Record<string, unknown>;

interface Row {
  readonly seq: unknown;
  readonly doc: Fields;
}

/** Mango's operators, as far as tests use them. */
const OPERATORS: Record<string, (value: any, operand: any) => boolean> = {
  $eq: (value, operand) => value === operand,
  $ne: (value, operand) => value !== operand,
  $gt: (value, operand) => typeof value === typeof operand && value > operand,
  $gte: (value, operand) => typeof value === typeof operand && value >= operand,
  $lt: (value, operand) => typeof value === typeof operand && value < operand,
  $in: (value, operand) => operand.includes(value),
  $exists: (_, operand) => operand,
};

/** As in CouchDB, a field that is missing matches `{ $exists: false }` alone. */
export function matchesMango(doc: Fields, selector: Fields): boolean {
  return Object.entries(selector).every(([name, wanted]) => {
    const list = wanted as Fields[];
    if (name === '$or') return list.some((one) => matchesMango(doc, one));
    if (name === '$and') return list.every((one) => matchesMango(doc, one));
    if (name.startsWith('$')) throw new Error(`The stand-in for Mango does not know ${name}.`);
    const value = name.split('.').reduce<any>((at, key) => at?.[key], doc);
    const isPlain = typeof wanted !== 'object' || wanted === null;
    const tests = Object.entries(isPlain ? { $eq: wanted } : (wanted as Fields));
    if (value === undefined) return tests.every(([test, given]) => test === '$exists' && !given);
    return tests.every(([test, operand]) => OPERATORS[test]?.(value, operand));
  });
}

/** Adds what the test server lacks of CouchDB: the filter `_selector` of changes, and queries. */
export function withMango(fetch: RemoteFetch): RemoteFetch {
  const get = async (url: string, init: RequestInit) => {
    const { body: _, ...rest } = init;
    const response = await fetch(url, { ...rest, method: 'GET' });
    return { response, body: response.ok ? ((await response.clone().json()) as any) : undefined };
  };

  async function find(url: string, init: RequestInit): Promise<Response> {
    const { selector, limit } = JSON.parse(init.body as string);
    const all = await get(url.replace('_find', '_all_docs?include_docs=true'), init);
    if (!all.body) return all.response;
    const docs = (all.body.rows as Row[]).map(({ doc }) => doc);
    const found = docs.filter((doc) => doc && matchesMango(doc, selector)).slice(0, limit);
    return Response.json({ docs: found.map(({ _id }) => ({ _id })) });
  }

  async function changes(asked: URL, init: RequestInit): Promise<Response> {
    const { selector } = JSON.parse(init.body as string);
    const { searchParams: query } = asked;
    const [limit, hasDocs] = [Number(query.get('limit')), query.get('include_docs') === 'true'];
    query.delete('filter');
    query.delete('limit');
    query.set('include_docs', 'true');
    for (;;) {
      const { response, body } = await get(asked.href, init);
      if (!body) return response;
      const rows = (body.results as Row[]).filter(({ doc }) => matchesMango(doc, selector));
      const sent = rows.slice(0, limit);
      const pending = rows.length - sent.length;
      if (rows.length > 0 || !query.has('feed'))
        return Response.json({
          results: hasDocs ? sent : sent.map(({ doc: _, ...row }) => row),
          last_seq: pending > 0 ? sent.at(-1)?.seq : body.last_seq,
          pending,
        });
      // A poll goes on.
      query.set('since', String(body.last_seq));
    }
  }

  return async (url, init) => {
    const asked = new URL(url);
    if (asked.pathname.endsWith('/_find')) return find(url, init);
    if (asked.searchParams.get('filter') === '_selector') return changes(asked, init);
    return fetch(url, init);
  };
}
