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

  /** Adds documents of about half a megabyte. */
  async add(...ids: readonly string[]): Promise<void> {
    const text = 'x'.repeat(500_000);
    const rows = ids.map((id) => ({ id, key: `r.${id}`, document: { _id: id, text } }));
    await this.current.push('orders', rows);
  }
}

let noted: NotedStore;
const ids = Array.from({ length: 9 }, (_, nth) => `o${nth}`);

beforeEach(async () => {
  noted = new NotedStore();
  await noted.add(...ids);
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

test('a page with more behind it is read of the store once, the last one each time', async () => {
  const handler = handlerOf();
  const first = await pull(handler, null);
  expect(first).toMatchObject({ type: PACKED, more: true, found: ids.slice(0, 4) });
  noted.pulls.length = 0;
  expect(await pull(handler, null)).toEqual(first);
  // Whether the history still is the same.
  expect(noted.pulls).toEqual([1]);
  const second = await pull(handler, first.checkpoint);
  const last = await pull(handler, second.checkpoint);
  expect([...first.found, ...second.found, ...last.found]).toEqual(ids);
  expect(last.more).toBe(false);
  await noted.add('p');
  expect(await pull(handler, second.checkpoint)).toMatchObject({ found: ['o8', 'p'] });
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

test('no more is kept than may be', async () => {
  // A page of 2 MB has some 2 kB: the texts repeat one letter.
  const handler = handlerOf({ keep: 3000 });
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
  const handler = handlerOf();
  const pages = await Promise.all([1, 2, 3].map(() => pull(handler, null)));
  expect(noted.pulls).toHaveLength(2);
  expect(pages[1]).toEqual(pages[0]);
  expect(pages[2]).toEqual(pages[0]);
});

test('a request whose page is read for others sees what was pushed before it', async () => {
  const handler = handlerOf();
  const { checkpoint } = await pull(handler, (await pull(handler, null)).checkpoint);
  const before = pull(handler, checkpoint);
  while (noted.pulls.length < 5) await Promise.resolve();
  await noted.add('p');
  const [, after] = await Promise.all([before, pull(handler, checkpoint)]);
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
  await noted.add('p');
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
  await noted.add('p');
  const text = 'x'.repeat(14_000_000);
  await noted.current.push('orders', [{ id: 'q', key: 'r.q', document: { _id: 'q', text } }]);
  const handler = handlerOf();
  let [page, sizes] = [await pull(handler, null), [] as number[]];
  while (page.more) {
    page = await pull(handler, page.checkpoint);
    sizes.push(page.found.length);
  }
  expect(page.found).toEqual(['q']);
  expect(sizes.length).toBeGreaterThan(1);
});

test.for([-1, Number.NaN, '1'])('keep: %s is refused', (keep) => {
  expect(() => handlerOf({ keep })).toThrow(expect.objectContaining({ code: 'option_invalid' }));
});
