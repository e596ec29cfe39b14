import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { Source } from '../../src/bindings/core/hook-result.ts';
import {
  countSource,
  documentSource,
  draftSource,
  pagesSource,
  querySource,
} from '../../src/bindings/core/sources.ts';
import { Database, type DocumentCollection } from '../../src/index.ts';

interface User {
  name: string;
  friend?: object;
}

let db: Database;
let users: DocumentCollection<User>;

beforeAll(async () => {
  db = new Database({ name: 'bad input', storage: 'memory' });
  users = new db.Collection<User>({ name: 'users', type: 'DOCUMENT_BASED' });
  await users.insert({ _id: 'ada', name: 'Ada' });
});
afterAll(() => db.close());

/** Reads a source until it matches. */
async function until<R>(source: Source<R>, matches: (state: R) => boolean): Promise<R> {
  await expect.poll(() => matches(source.view()), { interval: 2 }).toBe(true);
  return source.view();
}

const circle: Record<string, unknown> = { name: 'Ada' };
circle.self = circle;
const looped = new Map<string, unknown>();
looped.set('self', looped);

describe('what cannot be compared with the next render is an error of the query', () => {
  const cases: [string, object, object?][] = [
    ['a cycle', circle],
    ['a cycle through a Map', { friend: looped }],
    [
      'a getter that throws',
      {
        get name() {
          throw new Error('not yet');
        },
      },
    ],
    ['a cycle in an option', {}, { sort: circle }],
    ['a cycle in `key`', {}, { where: () => true, key: circle }],
  ];
  test.each(cases)('%s', async (_, params, options) => {
    for (const make of [querySource, pagesSource, countSource]) {
      const open = () =>
        (make as typeof countSource)('useLive', users, params as never, options as never);
      const source = open();
      const stop = source.subscribe(() => undefined);
      const { error } = await until(source, ({ status }) => status === 'error');
      expect(error).toMatchObject({ code: 'option_invalid' });
      // The same query in the next render: another one would render again, and so on.
      expect(open().key).toBe(source.key);
      stop();
    }
  });

  test('an id', async () => {
    const source = documentSource('useLiveDocument', users, circle as never);
    const stop = source.subscribe(() => undefined);
    await until(source, ({ status }) => status === 'error');
    stop();
  });
});

test.each([0, false, '', Number.NaN])('%j instead of a collection throws', (given) => {
  expect(() => querySource('useLiveQuery', given as never, {})).toThrow(
    `useLiveQuery() got ${typeof given}; pass a DOCUMENT_BASED collection.`,
  );
});

test('null in place of options is none', async () => {
  for (const source of [
    querySource('useLiveQuery', users, {}, null as never),
    pagesSource('useLivePages', users, {}, null as never),
  ]) {
    const stop = source.subscribe(() => undefined);
    expect(await until(source, ({ status }) => status === 'ready')).toMatchObject({
      data: [{ name: 'Ada' }],
    });
    stop();
  }
});

test.each([0, -1, 1.5, Number.NaN, '5', null])('page_size %j throws', (page_size) => {
  expect(() => pagesSource('useLivePages', users, {}, { page_size: page_size as never })).toThrow(
    expect.objectContaining({ code: 'option_invalid', place: 'page_size' }),
  );
});

test('a reader that throws does not keep a change from the others', async () => {
  const thrown = new Error('from a component');
  const uncaught: unknown[] = [];
  const handlers = process.listeners('uncaughtException');
  process.removeAllListeners('uncaughtException');
  process.on('uncaughtException', (error) => void uncaught.push(error));
  const query = () => querySource('useLiveQuery', users, { name: { $ne: 'nobody' } });
  const other = query();
  let told = 0;
  const stops = [
    query().subscribe(() => {
      throw thrown;
    }),
    other.subscribe(() => told++),
  ];
  try {
    await until(other, ({ status }) => status === 'ready');
    expect(told).toBe(1);
    await expect.poll(() => uncaught).toEqual([thrown]);
  } finally {
    for (const stop of stops) stop();
    process.removeAllListeners('uncaughtException');
    for (const handler of handlers) process.on('uncaughtException', handler);
  }
});

describe('a draft', () => {
  const unhandled = vi.fn();
  beforeAll(() => void process.on('unhandledRejection', unhandled));
  afterAll(() => void process.off('unhandledRejection', unhandled));

  test('shows why a save failed, also if nobody awaits it', async () => {
    const source = draftSource('useDraft', users, 'ada');
    const stop = source.subscribe(() => undefined);
    await until(source, ({ draft }) => draft !== undefined);
    source.view().set({ name: (() => 'Ada') as never });
    // As `onBlur={save}` does.
    void source.view().save();
    const { error } = await until(source, (state) => state.error !== undefined);
    expect(error).toMatchObject({ code: 'value_unsupported' });
    await expect(source.view().save()).rejects.toMatchObject({ code: 'value_unsupported' });
    await new Promise((resolve) => setTimeout(resolve));
    expect(unhandled).not.toHaveBeenCalled();
    stop();
  });

  test('with a cycle is dirty, and refuses to be saved', async () => {
    const source = draftSource('useDraft', users, 'ada');
    const stop = source.subscribe(() => undefined);
    await until(source, ({ draft }) => draft !== undefined);
    source.view().set({ friend: circle });
    expect(source.view().is_dirty).toBe(true);
    await expect(source.view().save()).rejects.toMatchObject({ code: 'value_cyclic' });
    source.view().reset();
    expect(source.view()).toMatchObject({ is_dirty: false, error: undefined });
    stop();
  });
});
