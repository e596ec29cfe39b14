import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Database } from '../../src/index.ts';

const CODE = '../../src/bindings/core/subscribed.ts';

let db: Database;

/** The sources, with nothing loaded yet: the code behind them is one for all components of a page. */
const sources = () => import('../../src/bindings/core/sources.ts');

beforeEach(() => {
  vi.resetModules();
  db = new Database({ name: `loading ${Math.random()}`, storage: 'memory' });
});

afterEach(() => {
  vi.doUnmock(CODE);
  return db.close();
});

function openUsers() {
  return new db.Collection<{ name: string; age?: number }>({
    name: 'users',
    type: 'DOCUMENT_BASED',
  });
}

test('a query is pending until its code is there, and then runs', async () => {
  const { querySource } = await sources();
  const users = openUsers();
  await users.insert({ _id: 'ada', name: 'Ada' });
  const source = querySource('useLiveQuery', users, { name: 'Ada' });
  const other = querySource('useLiveQuery', users, { name: 'Ada' });
  expect(source.view()).toBe(source.start);
  expect(source.start).toMatchObject({ status: 'pending', data: undefined });
  // Without their keys nobody knows that they are equal.
  expect(source.key).not.toBe(other.key);
  const stop = source.subscribe(() => undefined);
  await expect
    .poll(() => source.view())
    .toMatchObject({ status: 'ready', data: [{ name: 'Ada' }] });
  expect(source.key).toBe(other.key);
  expect(other.view()).toBe(source.view());
  stop();
});

test('a component that has left before the code is there starts nothing', async () => {
  const { querySource } = await sources();
  const { loadSubscribedCode } = await import('../../src/bindings/core/subscribed-code.ts');
  const users = openUsers();
  const live = vi.spyOn(users, 'live');
  const told = vi.fn();
  querySource('useLiveQuery', users, {}).subscribe(told)();
  await loadSubscribedCode();
  await new Promise((resolve) => setTimeout(resolve));
  expect(live).not.toHaveBeenCalled();
  expect(told).not.toHaveBeenCalled();
});

test('what is typed in a draft before its code is there is kept, in order', async () => {
  const { draftSource } = await sources();
  const users = openUsers();
  await users.insert({ _id: 'ada', name: 'Ada' });
  const source = draftSource(users, 'ada');
  // Until then a component that renders again keeps its first source.
  expect(draftSource(users, 'ada').key).toBe(source.key);
  const { set, reset, save } = source.view();
  set({ age: 1 });
  reset();
  set({ name: 'Lady Ada' });
  const stop = source.subscribe(() => undefined);
  await expect
    .poll(() => source.view())
    .toMatchObject({ draft: { name: 'Lady Ada' }, is_dirty: true });
  expect(await save()).toMatchObject({ name: 'Lady Ada' });
  expect(await users.get('ada')).not.toHaveProperty('age');
  stop();
});

test('code that does not load is an error of the query and its draft; the next component tries again', async () => {
  vi.doMock(CODE, () => {
    throw new Error('offline');
  });
  const { draftSource, pagesSource, querySource } = await sources();
  const users = openUsers();
  const failed = { status: 'error', error: { code: 'load_failed' } };
  const list = querySource('useLiveQuery', users, {});
  const stop = list.subscribe(() => undefined);
  await expect.poll(() => list.view()).toMatchObject(failed);
  expect(list.view()).toBe(list.view());
  stop();
  const draft = draftSource(users, 'ada');
  await expect(draft.view().save()).rejects.toMatchObject({ code: 'load_failed' });
  draft.view().set({ name: 'lost' });
  vi.doUnmock(CODE);
  const pages = pagesSource(users, {});
  const stopPages = pages.subscribe(() => undefined);
  await expect
    .poll(() => pages.view())
    .toMatchObject({ status: 'ready', data: [], has_more: false });
  stopPages();
});

test('a wrong argument is an error of the hook, before its code is there as well', async () => {
  const { pagesSource, querySource, valueSource } = await sources();
  const users = openUsers();
  expect(() => valueSource(users as never, 'a')).toThrow(/KEY_VALUE_BASED/);
  expect(() => querySource('useLiveQuery', users.live({}) as never, {})).toThrow(/a live query/);
  expect(() => pagesSource(users, {}, { page_size: 0 })).toThrow(/page_size/);
});
