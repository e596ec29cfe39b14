import { couchdb, type LocalChange, type RemoteFetch } from '../../../src/replication/index.ts';
import type { CouchModel } from '../../simulation/couch-model.ts';
import { jsonAnswer } from '../fetching/answers.ts';

export const url = 'https://example.com/db/orders';
export const ask = { signal: new AbortController().signal };
export const asked = { limit: 2, ...ask };

/** Answers by the last part of the path. A function gets the request's body and query. */
export type Answers = Record<string, unknown>;
export type Answer = (body: any, query: URLSearchParams) => Response | Promise<Response>;

export function serve(answers: Answers, calls: string[] = []): RemoteFetch {
  return async (target, { body }) => {
    const { pathname, searchParams } = new URL(target);
    const name = pathname.split('/').at(-1) as string;
    calls.push(name);
    const answer = { cairn: { history: '1' }, ...answers }[name];
    if (typeof answer !== 'function') return jsonAnswer(answer ?? {}, answer ? 200 : 404);
    return (answer as Answer)(body ? JSON.parse(body as string) : undefined, searchParams);
  };
}

/** A database in memory. */
export function serveModel(model: CouchModel): RemoteFetch {
  return async (target, { body }) => {
    const { pathname, searchParams: query } = new URL(target);
    const path = pathname.slice(new URL(url).pathname.length);
    const asked = { path, query, body: body ? JSON.parse(body as string) : undefined };
    const { status, body: answer } = model.handle(asked);
    return jsonAnswer(answer, status);
  };
}

export const remoteOf = (answers: Answers, calls?: string[]) =>
  couchdb({ url, fetch: serve(answers, calls) });

export const change = (id: string, rev = '1-a', fields: object = {}) => ({
  ...{ id, seq: `1-${id}`, changes: [{ rev }] },
  doc: { _id: id, _rev: rev, ...fields },
});
export const page = (results: unknown[], last_seq: unknown = '9-x') => ({
  results,
  last_seq,
  pending: 0,
});

export const row = (
  id: string,
  base?: string,
  document: object | undefined = { _id: id },
): LocalChange => ({
  ...{ id, base, document, key: `r.${id}` },
});
