import { buildSchema, graphql as execute, GraphQLError } from 'graphql';
import { afterEach, describe, expect, test } from 'vitest';
import { type GraphqlOptions, graphql } from '../../../src/graphql/index.ts';
import { fromJson, type RemoteFetch, toJson } from '../../../src/replication/index.ts';
import type { LocalChange } from '../../../src/replication/protocol/remote.ts';
import { remoteSuite } from '../../../src/replication/testing/index.ts';
import { memory } from '../../../src/server/index.ts';
import { readPages } from '../../docs/pages.ts';
import { closeDevices, Device } from '../device.ts';
import { MemoryRemote } from '../memory-remote.ts';
import { commonScopeStories, Office } from '../scope-stories.ts';
import { type StoryServer, stories } from './stories.ts';

afterEach(closeDevices);

/** The schema of docs/sync/graphql.md, as it stands there. */
const [, SDL = ''] =
  /```graphql\n(.*?)```/s.exec(readPages().get('docs/sync/graphql.md') ?? '') ?? [];
const schema = buildSchema(SDL);

const STATE = 'id version document key';
const PULL = `query ($after: String, $limit: Int!, $scope: JSON) {
  todoChanges(after: $after, limit: $limit, scope: $scope) {
    changes { ${STATE} left } checkpoint more reset
  }
}`;
const PUSH = `mutation ($rows: [TodoRow!]!) {
  pushTodos(rows: $rows) {
    version document deleted conflict { ${STATE} } rejected { reason retry }
  }
}`;

/** A server of GraphQL over a server in memory. */
class TodoServer {
  readonly store = new MemoryRemote();
  readonly requests: string[] = [];
  /** Thrown by resolvers for a document. */
  refuse: (row: LocalChange) => Error | undefined = () => undefined;
  /** In place of the answer. */
  answer: (() => Response) | undefined;

  readonly #resolvers = {
    todoChanges: async ({ after, limit }: { after: string | null; limit: number }) => {
      const page = await this.store.pull(after === null ? undefined : Number(after), { limit });
      const { checkpoint, changes } = page;
      return { ...page, checkpoint: String(checkpoint), changes: changes.map(stateOf) };
    },
    pushTodos: async ({ rows }: { rows: any[] }) => {
      const local = rows.map(({ document, base, ...row }) => ({
        ...{ ...row, base: base ?? undefined, document: document && fromJson(document) },
      }));
      for (const row of local) {
        const error = this.refuse(row);
        if (error) throw error;
      }
      return (await this.store.push(local)).map((result: any) => ({
        ...result,
        document: result.document && toJson(result.document),
        deleted: result.document === null,
        conflict: result.conflict && stateOf(result.conflict),
      }));
    },
  };

  readonly fetch: RemoteFetch = async (_, { body }) => {
    const { query: source, variables: variableValues } = JSON.parse(body as string);
    this.requests.push(source);
    if (this.answer) return this.answer();
    const result = await execute({ schema, source, variableValues, rootValue: this.#resolvers });
    return Response.json(result);
  };

  remote(options: Partial<GraphqlOptions> = {}) {
    return graphql({
      ...{ url: 'https://example.com/graphql', name: 'todos', fetch: this.fetch },
      pull: (variables) => ({ query: PULL, variables }),
      push: (rows) => ({ query: PUSH, variables: { rows } }),
      stream: (after, ask) => this.store.watch(Number(after), ask),
      ...options,
    });
  }
}

const stateOf = ({ document, ...state }: any) => ({
  ...{ ...state, document: document && toJson(document) },
});

remoteSuite(
  {
    name: 'graphql()',
    open() {
      const server = new TodoServer();
      const recreate = async () => server.store.restore(() => undefined);
      return { remote: server.remote(), recreate };
    },
    lacks: ['scopes'],
  },
  { describe, test },
);

remoteSuite(
  {
    name: 'graphql() whose subscription is silent',
    open: () => ({ remote: new TodoServer().remote({ stream: silent }) }),
    lacks: ['scopes', 'reset', 'keys'],
  },
  { describe, test },
);

/** The queries of the docs, in the place of the routes of an office. */
function openOffice() {
  const office = new Office(memory());
  const call = async (route: string, body: object) => {
    const answer = await office.ask(route, body);
    if (!answer.ok) throw new GraphQLError(await answer.text());
    return (await answer.json()) as any;
  };
  const resolvers = {
    todoChanges: async ({ scope, ...asked }: any) =>
      call('pull', { ...asked, ...(scope && { scope }) }),
    pushTodos: async ({ rows }: any) => {
      // GraphQL has null for what is left out.
      const given = rows.map((row: object) =>
        Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null)),
      );
      const { results } = await call('push', { rows: given });
      return results.map((one: any) => ({ ...one, deleted: one.document === null }));
    },
  };
  const remote = graphql({
    ...{ url: 'https://example.com/graphql', name: 'jobs', scopes: true },
    pull: (variables) => ({ query: PULL, variables }),
    push: (rows) => ({ query: PUSH, variables: { rows } }),
    fetch: async (_, { body }) => {
      const { query: source, variables: variableValues } = JSON.parse(body as string);
      return Response.json(await execute({ schema, source, variableValues, rootValue: resolvers }));
    },
  });
  return { office, remote };
}

remoteSuite(
  {
    name: 'graphql() with scopes',
    open: () => ({
      remote: openOffice().remote,
      scope: { ask: { owner: 'ada' }, inside: { owner: 'ada' }, outside: { owner: 'ben' } },
    }),
    lacks: ['watch', 'reset'],
  },
  { describe, test },
);

describe('scopes over GraphQL', () =>
  commonScopeStories(async () => {
    const { office, remote } = openOffice();
    const { requests } = office;
    const [write, document] = [office.write.bind(office), office.document.bind(office)];
    return { remote, requests, write, document };
  }));

describe('replicate() over GraphQL', () =>
  stories(async (): Promise<StoryServer> => {
    const server = new TodoServer();
    const idOf = (document: object) => (document as { _id: string })._id;
    return {
      connect(through) {
        const network = through(server.fetch);
        // One URL for all: what is pushed is lost by another name.
        const fetch: RemoteFetch = (url, init) =>
          network.fetch(String(init.body).includes('mutation') ? `${url}/push` : url, init);
        return { remote: server.remote({ fetch }), network };
      },
      documents: async () => server.store.documents().sort((a, b) => (idOf(a) < idOf(b) ? -1 : 1)),
      recreate: async () => server.store.restore(() => undefined),
      restart: async () => undefined,
    };
  }));

async function* silent(): AsyncIterable<unknown> {
  await new Promise(() => undefined);
}

describe('what a server says', () => {
  const ask = { limit: 10, signal: new AbortController().signal };
  const json = (body: unknown, status = 200) => Response.json(body as object, { status });
  const error = (code?: string) => ({
    errors: [{ message: 'said no', ...(code && { extensions: { code } }) }],
  });

  test.for<[object | string, number, string]>([
    [error('UNAUTHENTICATED'), 200, 'remote_unauthorized'],
    [error('FORBIDDEN'), 200, 'remote_forbidden'],
    [error('BAD_USER_INPUT'), 200, 'remote_refused'],
    [error('INTERNAL_SERVER_ERROR'), 200, 'remote_failed'],
    [error(), 200, 'remote_failed'],
    [{ data: null, ...error('BAD_USER_INPUT') }, 400, 'remote_refused'],
    [error(), 503, 'remote_failed'],
    [error(), 401, 'remote_unauthorized'],
    [{ errors: [null] }, 200, 'answer_invalid'],
    [{}, 200, 'answer_invalid'],
    [{ data: {} }, 200, 'answer_invalid'],
    [{ data: { page: { changes: [], checkpoint: 1, more: false } } }, 200, 'answer_invalid'],
    [{ data: { page: { changes: [{ id: 'a' }], checkpoint: '1' } } }, 200, 'answer_invalid'],
    [[], 200, 'answer_invalid'],
  ])('%j with %d is %s', async ([body, status, code]) => {
    const server = new TodoServer();
    server.answer = () => json(body, status);
    await expect(server.remote().pull(undefined, ask)).rejects.toMatchObject({ code });
  });

  test('a page may be anywhere in the answer', async () => {
    const server = new TodoServer();
    const page = { changes: [], checkpoint: '1', more: false, reset: null, rejected: null };
    server.answer = () => json({ data: { other: 1, deep: { page } } });
    const remote = server.remote({
      pull: (variables) => ({
        query: PULL,
        variables,
        read: ({ deep }: { deep: { page: object } }) => deep.page,
      }),
    });
    expect(await remote.pull(undefined, ask)).toMatchObject({ changes: [], checkpoint: '1' });
  });

  test('a document that a resolver refuses is rejected once; the others are there', async () => {
    const server = new TodoServer();
    server.refuse = ({ document }) =>
      (document as { count?: number } | undefined)?.count === 3
        ? new GraphQLError('three is taken', { extensions: { code: 'BAD_USER_INPUT' } })
        : undefined;
    const device = new Device(server.remote());
    const rejected: object[] = [];
    device.sync.on('rejected', (one) => rejected.push(one));
    await device.orders.insertMany(
      Array.from({ length: 6 }, (_, count) => ({ _id: `o${count}`, count })) as never[],
    );
    await device.settled();
    expect(rejected).toEqual([{ id: 'o3', reason: expect.stringContaining('three is taken') }]);
    expect(server.store.documents()).toHaveLength(5);
    const pushes = () => server.requests.filter((one) => one === PUSH).length;
    const before = pushes();
    await device.settled();
    expect(pushes()).toBe(before);
    await device.orders.patch('o3' as never, { count: 4 } as never);
    await device.settled();
    expect(server.store.documents()).toHaveLength(6);
  });

  test('a stream that fails is typed, and one that never ends heeds its signal', async () => {
    const failing = new TodoServer().remote({
      // biome-ignore lint/correctness/useYield: it fails before
      async *stream() {
        throw new Error('no such subscription');
      },
    });
    const rings = failing.watch?.('1000000', ask)[Symbol.asyncIterator]();
    await expect(rings?.next()).rejects.toThrow('no such subscription');
    const ended = new AbortController();
    const quiet = new TodoServer().remote({ stream: silent });
    const waiting = quiet.watch?.('1000000', { signal: ended.signal })[Symbol.asyncIterator]();
    const ring = waiting?.next();
    ended.abort(new Error('left'));
    await expect(ring).rejects.toThrow('left');
  });
});

test.each([
  [{ pull: undefined }, 'option_missing'],
  [{ push: 'mutation' }, 'option_invalid'],
  [{ stream: {} }, 'option_invalid'],
  [{ name: '' }, 'option_invalid'],
  [{ url: 'ftp://example.com' }, 'option_invalid'],
  [{ query: '' }, 'option_unknown'],
])('graphql(%j) is refused', (options, code) => {
  expect(() => new TodoServer().remote(options as never)).toThrow(
    expect.objectContaining({ code }),
  );
});
