import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Database } from '../../src/index.ts';

const CODE = '../../src/bindings/core/subscribed.ts';

let db: Database;

/**
 * The sources, with nothing loaded yet: the code behind them is one for all components of a page.
 */
const sources = () => import('../../src/bindings/core/sources.ts');

beforeEach(() => {
  vi.resetModules();
  db = new Database({ name: `loading ${Math.random()}`, storage: 'memory' });
});

afterEach(() => {
  vi.useRealTimers();
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

test('the status of a database is whole before its code is there', async () => {
  const { statusSource } = await sources();
  expect(statusSource('useDatabaseStatus', db).view()).toMatchObject({
    state: 'idle',
    parts: [],
    unsaved: 0,
  });
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
  const source = draftSource('useDraft', users, 'ada');
  // Until then a component that renders again keeps its first source.
  expect(draftSource('useDraft', users, 'ada').key).toBe(source.key);
  const { set, reset, save } = source.view();
  set({ age: 1 });
  reset();
  const typed = { name: 'Lady Ada' };
  set(typed);
  typed.name = 'changed without set';
  const stop = source.subscribe(() => undefined);
  await expect
    .poll(() => source.view())
    .toMatchObject({ draft: { name: 'Lady Ada' }, is_dirty: true });
  expect(await save()).toMatchObject({ name: 'Lady Ada' });
  expect(await users.get('ada')).not.toHaveProperty('age');
  stop();
});

test('code that does not load is an error of all hooks until a later component succeeds', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout'] });
  const load = vi.fn(() => {
    throw new Error('offline');
  });
  vi.doMock(CODE, load);
  const { draftSource, pagesSource, querySource } = await sources();
  const users = openUsers();
  const failed = { status: 'error', error: { code: 'load_failed' } };
  const list = querySource('useLiveQuery', users, {});
  const stop = list.subscribe(() => undefined);
  await expect.poll(() => list.view()).toMatchObject(failed);
  // A component that renders again, with another source, gets the same result, and no second
  // request.
  const again = querySource('useLiveQuery', users, {});
  const stopAgain = again.subscribe(() => undefined);
  expect(again.view()).toBe(list.view());
  const draft = draftSource('useDraft', users, 'ada');
  await expect(draft.view().save()).rejects.toMatchObject({ code: 'load_failed' });
  draft.view().set({ name: 'lost' });
  expect(querySource('useLiveQuery', undefined, {}).view().status).toBe('off');
  expect(load).toHaveBeenCalledTimes(1);
  vi.doUnmock(CODE);
  vi.advanceTimersByTime(5000);
  vi.useRealTimers();
  const pages = pagesSource('useLivePages', users, {});
  const stopPages = pages.subscribe(() => undefined);
  const ready = { status: 'ready', data: [] };
  await expect.poll(() => pages.view()).toMatchObject({ ...ready, has_more: false });
  await expect.poll(() => list.view()).toMatchObject(ready);
  for (const leave of [stop, stopAgain, stopPages]) leave();
});

test('a wrong argument is in `error` of the component that waits, and thrown by the hook from then on', async () => {
  const { pagesSource, querySource, statusSource, valueSource } = await sources();
  const users = openUsers();
  const wrong = [
    [() => valueSource('useLiveValue', users as never, 'a'), /KEY_VALUE_BASED/],
    [() => querySource('useLiveQuery', users.live({}) as never, {}), /a live query/],
    [() => querySource('useLiveQuery', false as never, {}), /got boolean/],
    [() => pagesSource('useLivePages', users, {}, { page_size: 0 }), /page_size/],
    [() => statusSource('useDatabaseStatus', undefined as never), /a Database or a connection/],
  ] as const;
  const waiting = wrong.map(([make]) => make());
  for (const one of waiting) one.subscribe(() => undefined);
  for (const [at, [make, message]] of wrong.entries()) {
    await expect
      .poll(() => waiting[at]?.view())
      .toMatchObject({ status: 'error', error: { code: 'option_invalid' } });
    expect(make).toThrow(message);
  }
});

test('results do not differ from render to render before the code is there, nor while a hook is off', async () => {
  const { draftSource, pagesSource, querySource } = await sources();
  const { loadSubscribedCode } = await import('../../src/bindings/core/subscribed-code.ts');
  const users = openUsers();
  const list = () => querySource('useLiveQuery', users, {});
  const pages = () => pagesSource('useLivePages', users, {});
  const off = () => querySource('useLiveQuery', undefined, {});
  for (const make of [list, pages, off]) expect(make().view()).toBe(make().view());
  await loadSubscribedCode();
  expect(off().key).toBe(off().key);
  const { set, save, reset } = draftSource('useDraft', users, undefined).view();
  set({ name: 'nobody' });
  expect(await save()).toBe(undefined);
  reset();
});

test('a listener that leaves as it is told is not told again', async () => {
  const { pagesSource } = await sources();
  const users = openUsers();
  let calls = 0;
  const stop = pagesSource('useLivePages', users, {}).subscribe(() => {
    calls++;
    stop();
  });
  await expect.poll(() => calls).toBe(1);
  const other = pagesSource('useLivePages', users, {});
  const stopOther = other.subscribe(() => undefined);
  await users.insert({ name: 'Ada' });
  // Both would be told at once.
  await expect.poll(() => other.view()).toMatchObject({ data: [{ name: 'Ada' }] });
  expect(calls).toBe(1);
  stopOther();
});
