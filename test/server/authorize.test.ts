import { describe, expect, test, vi } from 'vitest';
import {
  type Authorization,
  createHandler,
  memory,
  ServerError,
  type Store,
} from '../../src/server/index.ts';
import { ask, refusal, request, URL_OF, wire } from './requests.ts';

const answering = (authorization: unknown, store: Store = memory()) => {
  const onError = vi.fn();
  const authorize = () => authorization as Authorization;
  return { onError, handler: createHandler({ store, authorize, onError }) };
};

describe('authorize', () => {
  test('gets the request and the decoded name of the collection', async () => {
    const authorize = vi.fn(() => true as const);
    const handler = createHandler({ store: memory(), authorize });
    const asked = request(URL_OF("a/b'; drop", 'pull'), {});
    await handler(asked);
    expect(authorize).toHaveBeenCalledWith(asked, "a/b'; drop");
  });

  test.each([
    [undefined, 401, 'unauthorized'],
    [null, 401, 'unauthorized'],
    [false, 403, 'forbidden'],
  ])('%s is %d', async (authorization, status, code) => {
    const { handler, onError } = answering(authorization);
    for (const call of ['pull', 'push', 'watch']) {
      const asked = request(URL_OF('orders', call), '{');
      expect(await refusal(handler, asked)).toEqual([status, code]);
      expect(asked.bodyUsed).toBe(false);
    }
    expect(onError).not.toHaveBeenCalled();
  });

  test.each([
    ['a misspelt filter', { raed: () => true }],
    ['a filter that is no function', { read: true }],
    ['a word', 'yes'],
    ['a number', 1],
    ['a list', []],
    ['a Response', new Response()],
  ])('%s opens nothing', async (_, authorization) => {
    const { handler, onError } = answering(authorization);
    const asked = request(URL_OF('orders', 'pull'), {});
    expect(await refusal(handler, asked)).toEqual([503, 'store_failed']);
    expect(onError.mock.calls[0]?.[0]).toMatchObject({ code: 'authorize_invalid' });
  });

  test('that fails opens nothing', async () => {
    const onError = vi.fn();
    const authorize = () => Promise.reject(new Error('no key'));
    const handler = createHandler({ store: memory(), authorize, onError });
    const asked = request(URL_OF('orders', 'pull'), {});
    expect(await refusal(handler, asked)).toEqual([503, 'store_failed']);
  });

  test('that reads the body is reported', async () => {
    const onError = vi.fn();
    const authorize = async (asked: Request) => (await asked.json()) !== undefined;
    const handler = createHandler({ store: memory(), authorize, onError });
    expect((await handler(request(URL_OF('orders', 'pull'), {}))).status).toBe(503);
    expect(onError).toHaveBeenCalled();
  });
});

describe('filters', () => {
  const store = memory();
  const as = (user: string, collection = 'orders') => {
    const mine = ({ owner }: Readonly<Record<string, unknown>>) => owner === user;
    const { handler } = answering({ read: mine, write: async (each: any) => mine(each) }, store);
    return {
      push: async (...rows: object[]) => (await ask(handler, collection, 'push', { rows })).results,
      pull: async () => (await ask(handler, collection, 'pull', {})).changes,
    };
  };
  const forbidden = { rejected: { reason: 'You may not write this document.' } };

  test('documents of others look deleted', async () => {
    const [{ version }] = await as('ada').push(wire('a1', { owner: 'ada', secret: 1 }));
    expect(await as('bob').pull()).toEqual([{ id: 'a1', version, deleted: true }]);
    expect(await as('ada').pull()).toMatchObject([{ document: { secret: 1 } }]);
  });

  test('nobody writes, replaces or deletes a document of others, or sees it in a conflict', async () => {
    const [{ version: base }] = await as('ada').push(wire('a2', { owner: 'ada' }));
    const bob = as('bob');
    for (const row of [
      wire('a2', { owner: 'bob' }),
      wire('a2', { owner: 'bob' }, { base }),
      wire('a2', undefined),
      wire('a2', undefined, { base }),
      wire('a2', { owner: 'ada' }, { base }),
      wire('free', { owner: 'ada' }),
    ]) {
      expect(await bob.push(row)).toEqual([forbidden]);
    }
    expect(await as('ada').pull()).toContainEqual(expect.objectContaining({ version: base }));
  });

  test('nobody replaces or deletes what he may not read, with a read filter alone', async () => {
    const shared = memory();
    const reading = (user: string) =>
      answering({ read: ({ owner }: any) => owner === user }, shared).handler;
    const push = async (user: string, row: object) =>
      (await ask(reading(user), 'orders', 'push', { rows: [row] })).results[0];
    const { version: base } = await push('ada', wire('a', { owner: 'ada' }));
    expect(await push('bob', wire('a', { owner: 'bob' }, { base }))).toEqual(forbidden);
    expect(await push('bob', wire('a', undefined, { base }))).toEqual(forbidden);
    expect(await push('ada', wire('a', { owner: 'bob' }, { base }))).toHaveProperty('version');
    expect(await push('bob', wire('b', { owner: 'bob' }))).toHaveProperty('version');
  });

  test('a refused row does not keep the others from being made', async () => {
    const bob = as('bob', 'mixed');
    const results = await bob.push(
      wire('b1', { owner: 'bob' }),
      wire('b2', { owner: 'ada' }),
      wire('b3', { owner: 'bob', when: { $date: 'never' } }),
      wire('b4', { owner: 'bob' }, { id: 'b5' }),
      wire('b6', { owner: 'bob' }),
    );
    expect(results.map((result: object) => Object.keys(result)[0])).toEqual([
      ...['version', 'rejected', 'rejected', 'rejected', 'version'],
    ]);
  });

  test('see documents with their types', async () => {
    const seen: unknown[] = [];
    const { handler } = answering({
      read: (document: object) => seen.push(structuredClone(document)) > 0,
    });
    await ask(handler, 'orders', 'push', { rows: [wire('a', { at: { $date: 7 } })] });
    await ask(handler, 'orders', 'pull', {});
    expect(seen).toEqual([{ _id: 'a', at: new Date(7) }]);
  });

  test('a document that was given away leaves its first owner', async () => {
    const hers = wire('a', { owner: 'ada' });
    const [{ version }] = await as('ada', 'given').push(hers);
    const { handler: admin } = answering(true, store);
    const row = wire('a', { owner: 'bob' }, { base: version });
    await ask(admin, 'given', 'push', { rows: [row] });
    expect(await as('ada', 'given').pull()).toMatchObject([{ id: 'a', deleted: true }]);
    // the retry of her push is answered as at first, without the document that is no longer hers
    expect(await as('ada', 'given').push(hers)).toEqual([{ version }]);
  });

  test('a filter that answers something else than true hides the document', async () => {
    await as('ada', 'odd').push(wire('a', { owner: 'ada' }));
    const { handler: odd } = answering({ read: () => 'yes' as any }, store);
    expect((await ask(odd, 'odd', 'pull', {})).changes).toMatchObject([{ deleted: true }]);
  });

  const member = ({ members }: any) => members.includes('ada');

  test.each<[string, (document: any) => unknown]>([
    ['throws', member],
    ['rejects', async (document) => member(document)],
    ['throws nothing', (document) => document.members?.includes('ada') || Promise.reject()],
  ])('a read filter that %s for one document hides it, and the log names it', async (_, read) => {
    const mixed = memory();
    const { handler: admin } = answering(true, mixed);
    const rows = [wire('a', { members: ['ada'] }), wire('b', {}), wire('c', { members: ['ada'] })];
    await ask(admin, 'orders', 'push', { rows });
    const { handler, onError } = answering({ read }, mixed);
    const { changes } = await ask(handler, 'orders', 'pull', {});
    expect(changes).toMatchObject([{ document: { _id: 'a' } }, { deleted: true }, { id: 'c' }]);
    expect(changes[1]).not.toHaveProperty('document');
    expect(onError.mock.calls).toMatchObject([
      [{ code: 'filter_failed', place: 'b', message: expect.stringContaining('"read"') }, {}],
    ]);
    const results = await ask(handler, 'orders', 'push', {
      rows: [wire('b', { members: ['ada'] }, { base: changes[1].version }), wire('d', {})],
    });
    expect(results).toEqual({ results: [forbidden, { version: expect.any(String) }] });
  });

  test('a write filter that throws for one row refuses it, and the log names it', async () => {
    const { handler, onError } = answering({ write: member });
    const rows = [wire('a', { members: ['ada'] }), wire('b', {}), wire('c', { members: ['ada'] })];
    const { results } = await ask(handler, 'orders', 'push', { rows });
    const made = { version: expect.any(String) };
    expect(results).toEqual([made, forbidden, made]);
    expect(onError.mock.calls).toMatchObject([[{ code: 'filter_failed', place: 'b' }, {}]]);
  });

  test('a filter that fails for all documents does not fill the log', async () => {
    const { handler: admin } = answering(true, store);
    const rows = Array.from({ length: 100 }, (_, index) => wire(`${index}`, {}));
    await ask(admin, 'failing', 'push', { rows });
    const { handler, onError } = answering({ read: member }, store);
    const { changes } = await ask(handler, 'failing', 'pull', {});
    expect(changes.filter(({ deleted }: any) => deleted)).toHaveLength(100);
    expect(onError).toHaveBeenCalledTimes(10);
  });

  test.each([
    new ServerError('store_busy', 'The list of members is locked.', { retryAfter: 3 }),
    Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' }),
    new TypeError('fetch failed', { cause: { code: 'ECONNRESET' } }),
  ])('a filter that cannot decide for now hides nothing: %s', async (error) => {
    await as('ada', 'away').push(wire('a', { owner: 'ada' }));
    const { handler, onError } = answering({ read: () => Promise.reject(error) }, store);
    const response = await handler(request(URL_OF('away', 'pull'), {}));
    expect([429, 503]).toContain(response.status);
    expect(response.headers.has('retry-after')).toBe(true);
    expect(onError).toHaveBeenCalledOnce();
  });

  test('a document that somebody damaged in the database is hidden', async () => {
    const document = { _id: 'a', owner: 'ada', at: { $date: 'damaged' } };
    await store.push('damaged', [{ id: 'a', key: 'k', document }]);
    expect(await as('ada', 'damaged').pull()).toMatchObject([{ id: 'a', deleted: true }]);
    expect(await as('ada', 'damaged').push(wire('a', { owner: 'ada' }))).toEqual([forbidden]);
  });

  test('what is checked is what is replaced', async () => {
    // Between the check of Ada's push and the push itself, the document goes to Bob.
    const raced = memory();
    const [first] = await raced.push('orders', [
      { id: 'a', key: 'k1', document: { _id: 'a', owner: 'ada' } },
    ]);
    const base = (first as { version: string }).version;
    let given = false;
    const between: Store = {
      ...methodsOf(raced),
      async push(collection, rows) {
        const [row] = rows;
        if (!given && row?.key.startsWith('r.')) {
          given = true;
          const document = { _id: 'a', owner: 'bob' };
          await raced.push(collection, [{ id: 'a', base, key: 'k2', document }]);
        }
        return raced.push(collection, rows);
      },
    };
    const ada = answering({ write: ({ owner }: any) => owner === 'ada' }, between);
    const rows = [wire('a', { owner: 'ada', mine: true }, { base })];
    const { results } = await ask(ada.handler, 'orders', 'push', { rows });
    expect(results).toEqual([forbidden]);
    expect((await raced.read('orders', ['a']))[0]?.document).toEqual({ _id: 'a', owner: 'bob' });
  });

  test('a document that changes at each check is rejected for now', async () => {
    const restless = memory();
    const document = { _id: 'a' };
    let base: string | undefined;
    const store: Store = {
      ...methodsOf(restless),
      async push(collection, rows) {
        const key = crypto.randomUUID();
        const [made] = await restless.push(collection, [{ id: 'a', base, key, document }]);
        base = (made as { version: string }).version;
        return restless.push(collection, rows);
      },
    };
    const { handler } = answering({ write: () => true }, store);
    const { results } = await ask(handler, 'orders', 'push', { rows: [wire('a', {})] });
    expect(results).toMatchObject([{ rejected: { retry: true } }]);
  });
});

function methodsOf(store: Store): Store {
  return {
    pull: (...given) => store.pull(...given),
    push: (...given) => store.push(...given),
    read: (...given) => store.read(...given),
    watch: (...given) => store.watch(...given),
  };
}
