import { gunzipSync } from 'node:zlib';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createHandler, type Handler, memory, type Store } from '../../src/server/index.ts';
import { request, URL_OF } from './requests.ts';

const PACKED = 'application/vnd.cairn.page';

/** A memory store that notes the limits of pulls. */
class NotedStore {
  current = memory();
  readonly pulls: number[] = [];
  readonly store: Store = {
    pull: (name, after, limit) => {
      this.pulls.push(limit);
      return this.current.pull(name, after, limit);
    },
    push: (...asked) => this.current.push(...asked),
    read: (...asked) => this.current.read(...asked),
    watch: (...asked) => this.current.watch(...asked),
  };

  /** Adds documents of a megabyte, or of so many characters. */
  async add(ids: readonly string[], size = 1_000_000): Promise<void> {
    const text = 'x'.repeat(size);
    const rows = ids.map((id) => ({ id, key: `r.${id}`, document: { _id: id, text } }));
    await this.current.push('orders', rows);
  }
}

let noted: NotedStore;
const ids = Array.from({ length: 9 }, (_, nth) => `o${nth}`);

beforeEach(async () => {
  noted = new NotedStore();
  await noted.add(ids);
});
afterEach(() => void vi.useRealTimers());

const handlerOf = (options: object = {}) =>
  createHandler({ store: noted.store, authorize: () => true, ...options });

async function pull(handler: Handler, after: string | null, body: object = {}, accept = PACKED) {
  const headers = { 'content-type': 'application/json', accept: `${accept}, application/json` };
  const asked = request(URL_OF('orders', 'pull'), { after, ...body }, { headers });
  const response = await handler(asked);
  const type = response.headers.get('content-type');
  if (type !== PACKED) {
    const { changes = [], ...others } = await response.json();
    return { type, ...others, found: changes.map(({ id }: { id: string }) => id) };
  }
  const bytes = Buffer.from(await response.arrayBuffer());
  const end = bytes.indexOf('\n');
  const { checkpoint, more, ...others } = JSON.parse(bytes.subarray(0, end).toString());
  expect(others).toEqual({});
  const text = gunzipSync(bytes.subarray(end + 1)).toString();
  expect(text === '' || text.endsWith('\n')).toBe(true);
  const lines = text.split('\n').filter(Boolean);
  return { type, checkpoint, more, found: lines.map((line) => JSON.parse(line).id as string) };
}

test('a page is read of the store once, and later changes each time', async () => {
  const handler = handlerOf();
  const first = await pull(handler, null);
  expect(first).toMatchObject({ type: PACKED, more: true, found: ids.slice(0, 3) });
  noted.pulls.length = 0;
  expect(await pull(handler, null)).toEqual(first);
  // Whether the history still is the same.
  expect(noted.pulls).toEqual([1]);
  const second = await pull(handler, first.checkpoint);
  const third = await pull(handler, second.checkpoint);
  expect([...first.found, ...second.found, ...third.found]).toEqual(ids);
  expect(await pull(handler, third.checkpoint)).toMatchObject({ found: [], more: false });
  await noted.add(['p']);
  expect(await pull(handler, second.checkpoint)).toEqual(third);
  expect(await pull(handler, third.checkpoint)).toMatchObject({ found: ['p'] });
});

test('the last page is not kept if it is short', async () => {
  const handler = handlerOf();
  let page = await pull(handler, null);
  while (page.more) page = await pull(handler, page.checkpoint);
  await noted.add(['p'], 100_000);
  expect(await pull(handler, page.checkpoint)).toMatchObject({ found: ['p'], more: false });
  await noted.add(['q'], 1);
  expect(await pull(handler, page.checkpoint)).toMatchObject({ found: ['p', 'q'], more: false });
});

test.for<[string, object, object?, string?]>([
  ['who must not see all documents', { authorize: () => ({ read: () => true }) }],
  ['a scope', { scopes: { all: () => ({}) } }, { scope: { all: 1 } }],
  ['who does not know packed pages', {}, {}, 'text/html'],
  ['who reads other pages', {}, {}, 'application/vnd.cairn.pages'],
  ['a server that keeps nothing', { keep: 0 }],
])('%s gets ordinary pages', async ([, options, body = {}, accept]) => {
  const page = await pull(handlerOf(options), null, body, accept);
  expect(page.type).toBe('application/json');
  expect(page.found).toContain('o0');
});

test('each request is authorized', async () => {
  let allowed = true;
  const handler = handlerOf({ authorize: () => allowed });
  await pull(handler, null);
  allowed = false;
  expect(await pull(handler, null)).toMatchObject({ error: { code: 'forbidden' } });
});

test('pages are kept for five minutes', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const handler = handlerOf();
  await pull(handler, null);
  vi.advanceTimersByTime(5 * 60_000 - 1);
  noted.pulls.length = 0;
  await pull(handler, null);
  expect(noted.pulls).toEqual([1]);
  vi.advanceTimersByTime(1);
  await pull(handler, null);
  expect(noted.pulls.length).toBeGreaterThan(2);
});

test('pages are not sent after their time where timers end with their request', async () => {
  vi.useFakeTimers({ toFake: ['Date', 'setTimeout', 'clearTimeout'] });
  const handler = handlerOf();
  await pull(handler, null);
  vi.clearAllTimers();
  vi.setSystemTime(Date.now() + 5 * 60_000);
  noted.pulls.length = 0;
  await pull(handler, null);
  expect(noted.pulls.length).toBeGreaterThan(2);
});

test('a page that never comes holds nobody up for good', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const handler = handlerOf();
  const { pull: own } = noted.store;
  noted.store.pull = () => new Promise(() => undefined);
  const hanging = Array.from({ length: 4 }, () => pull(handler, null));
  for (let turn = 0; turn < 9; turn++) await new Promise(setImmediate);
  noted.store.pull = own;
  const waiting = pull(handler, null);
  await vi.advanceTimersByTimeAsync(10_000);
  expect(await waiting).toMatchObject({ more: true });
  expect(await pull(handler, null)).toMatchObject({ type: PACKED });
  await Promise.all(hanging);
});

test('no more is kept than may be', async () => {
  // A page of 3 MB has some 3 kB: the texts repeat one letter.
  const handler = handlerOf({ keep: 4500 });
  const { checkpoint } = await pull(handler, null);
  await pull(handler, checkpoint);
  noted.pulls.length = 0;
  await pull(handler, null);
  expect(noted.pulls).toEqual([1]);
  await pull(handler, checkpoint);
  expect(noted.pulls.length).toBeGreaterThan(2);
});

test('a page that begins anywhere is not kept', async () => {
  const handler = handlerOf();
  const { checkpoint } = await noted.current.pull('orders', undefined, 1);
  await pull(handler, checkpoint);
  const { length } = noted.pulls;
  await pull(handler, checkpoint);
  expect(noted.pulls.length).toBe(2 * length);
});

test('requests for one page at once read it once', async () => {
  await pull(handlerOf(), null);
  const once = noted.pulls.splice(0);
  const handler = handlerOf();
  const pages = await Promise.all([1, 2, 3].map(() => pull(handler, null)));
  expect(noted.pulls).toEqual(once);
  expect(pages[1]).toEqual(pages[0]);
  expect(pages[2]).toEqual(pages[0]);
});

test('a request whose page is read for others sees what was pushed before it', async () => {
  const handler = handlerOf();
  const { checkpoint } = await noted.current.pull('orders', undefined, 1000);
  let end = checkpoint;
  for (let more = true; more; )
    ({ checkpoint: end, more } = await noted.current.pull('orders', end, 1000));
  const before = pull(handler, end);
  while (noted.pulls.length < 1) await Promise.resolve();
  await noted.add(['p']);
  const [, after] = await Promise.all([before, pull(handler, end)]);
  expect(after?.found).toContain('p');
});

test('further pages at the same time are ordinary ones', async () => {
  const handler = handlerOf();
  const { checkpoint } = await noted.current.pull('orders', undefined, 1);
  const [epoch] = checkpoint.split('.');
  const pages = await Promise.all(ids.map((_, nth) => pull(handler, `${epoch}.${nth}`)));
  expect(pages.filter(({ type }) => type === PACKED)).toHaveLength(4);
});

test('a store that was restored answers for itself', async () => {
  const handler = handlerOf();
  const first = await pull(handler, null);
  noted.current = noted.current.copy();
  await noted.add(['p']);
  const anew = await pull(handler, null);
  expect(anew.found).toEqual(first.found);
  expect(anew.checkpoint.split('.')[0]).not.toBe(first.checkpoint.split('.')[0]);
  expect(await pull(handler, first.checkpoint)).toMatchObject({
    ...{ type: 'application/json', reset: true },
  });
});

test('a store that fails is told, and asked again', async () => {
  const handler = handlerOf({ onError: () => undefined });
  const { pull: own } = noted.store;
  noted.store.pull = () => Promise.reject(new Error('away'));
  expect(await pull(handler, null)).toMatchObject({ error: { code: 'store_failed' } });
  noted.store.pull = own;
  expect(await pull(handler, null)).toMatchObject({ type: PACKED });
});

test('one document that is larger than the others together begins a page', async () => {
  await noted.add(['p']);
  const text = 'x'.repeat(14_000_000);
  await noted.current.push('orders', [{ id: 'q', key: 'r.q', document: { _id: 'q', text } }]);
  const handler = handlerOf();
  const pages = [await pull(handler, null)];
  while (pages.at(-1)?.more) pages.push(await pull(handler, pages.at(-1)?.checkpoint));
  expect(pages.map(({ found }) => found)).toContainEqual(['q']);
  expect(pages.length).toBeGreaterThan(2);
});

test.for([-1, Number.NaN, '1'])('keep: %s is refused', (keep) => {
  expect(() => handlerOf({ keep })).toThrow(expect.objectContaining({ code: 'option_invalid' }));
});
