import {
  Activity,
  Component,
  createElement,
  type ReactNode,
  StrictMode,
  Suspense,
  startTransition,
} from 'react';
import { flushSync } from 'react-dom';
import { createRoot } from 'react-dom/client';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import {
  useLiveDocument,
  useLiveQuery,
  useLiveSuspenseQuery,
} from '../../../src/bindings/react/index.ts';
import { CairnError, Database, type DocumentCollection } from '../../../src/index.ts';

interface Task {
  title: string;
  size: number;
}

let db: Database;
let tasks: DocumentCollection<Task>;

beforeAll(async () => {
  db = new Database({ name: 'suspense', storage: 'memory' });
  tasks = new db.Collection<Task>({ name: 'tasks', type: 'DOCUMENT_BASED' });
  await tasks.insertMany([
    { title: 'walk', size: 1 },
    { title: 'paint', size: 5 },
  ]);
});
afterAll(() => db.close());
afterEach(() => vi.restoreAllMocks());

/** Shows the code of an error until it is reset. */
class Boundary extends Component<{ children: ReactNode }, { error?: Error }> {
  override state: { error?: Error } = {};

  static getDerivedStateFromError(error: Error) {
    return { error };
  }

  override render() {
    const { error } = this.state;
    if (!error) return this.props.children;
    const reset = () => this.setState({ error: undefined as never });
    return createElement(
      'button',
      { type: 'button', title: error.message, onClick: reset },
      (error as CairnError).code ?? error.message,
    );
  }
}

function show(make: () => ReactNode) {
  const element = document.createElement('main');
  const texts: (string | null)[] = [];
  new MutationObserver(() => texts.push(element.textContent)).observe(element, {
    subtree: true,
    childList: true,
    characterData: true,
  });
  // The boundary reports the errors.
  const root = createRoot(element, { onCaughtError: () => undefined });
  const draw = () =>
    root.render(
      createElement(
        StrictMode,
        {},
        createElement(Boundary, null, createElement(Suspense, { fallback: 'loading' }, make())),
      ),
    );
  draw();
  const reads = (text: string) =>
    expect.poll(() => element.textContent, { interval: 5 }).toBe(text);
  return { element, texts, draw, reads, unmount: () => root.unmount() };
}

/** How many subscriptions the live documents of `tasks` have from now on. */
function countFollowers(): () => number {
  let followers = 0;
  const { liveDocument } = tasks;
  vi.spyOn(tasks, 'liveDocument').mockImplementation((id) => {
    const query = liveDocument.call(tasks, id);
    const { subscribe } = query;
    vi.spyOn(query, 'subscribe').mockImplementation((listener) => {
      const stop = subscribe.call(query, listener);
      followers++;
      return () => {
        followers--;
        stop();
      };
    });
    return query;
  });
  return () => followers;
}

function Titles({ least = 0 }: { least?: number }) {
  const { data, is_stale } = useLiveSuspenseQuery(tasks, { size: { $gte: least } });
  return `${data.map(({ title }) => title)}${is_stale ? ' (stale)' : ''}`;
}

test('a component waits for its first documents, then follows them', async () => {
  const page = show(() => createElement(Titles));
  await page.reads('walk,paint');
  expect(page.texts[0]).toBe('loading');
  const { _id } = await tasks.insert({ title: 'rest', size: 0 });
  await page.reads('walk,paint,rest');
  await tasks.delete(_id);
  await page.reads('walk,paint');
  page.unmount();
});

test('other criteria keep the documents instead of the fallback', async () => {
  let least = 0;
  const page = show(() => createElement(Titles, { least }));
  await page.reads('walk,paint');
  const from = page.texts.length;
  least = 2;
  page.draw();
  await page.reads('paint');
  expect(page.texts.slice(from)).not.toContain('loading');
  page.unmount();
});

test('several queries of one component load one after the other', async () => {
  function Both() {
    const large = useLiveSuspenseQuery(tasks, { size: { $gt: 2 } });
    const small = useLiveSuspenseQuery(tasks, { size: { $lt: 2 } });
    return `${large.data[0]?.title} ${small.data[0]?.title}`;
  }
  const page = show(() => createElement(Both));
  await page.reads('paint walk');
  page.unmount();
});

test('an error goes to the error boundary, which can retry', async () => {
  const { live } = tasks;
  let broken = true;
  vi.spyOn(tasks, 'live').mockImplementation(((params: object) =>
    live.call(tasks, (broken ? { size: { $near: 1 } } : params) as never)) as never);
  const page = show(() => createElement(Titles, { least: 5 }));
  await page.reads('operator_unknown');
  broken = false;
  page.element.querySelector('button')?.click();
  await page.reads('paint');
  page.unmount();
});

test('a function that is new in each render ends in an error instead of an endless loop', async () => {
  function Loop() {
    const { data } = useLiveQuery(tasks, ({ size }) => size > 0);
    return String(data?.length);
  }
  const page = show(() => createElement(Loop));
  await page.reads('option_invalid');
  expect(page.element.querySelector('button')?.title).toMatch('The query is another');
  page.unmount();
});

test('in a component that suspends too', async () => {
  function Loop() {
    return String(useLiveSuspenseQuery(tasks, ({ size }) => size > 0).data.length);
  }
  const page = show(() => createElement(Loop));
  await page.reads('option_invalid');
  page.unmount();
  // What it has waited for ends in a later turn.
  await new Promise((resolve) => setTimeout(resolve, 20));
});

test('many components that suspend below one boundary are no endless loop', async () => {
  const Row = ({ least }: { least: number }) => {
    const { data } = useLiveSuspenseQuery(tasks, { size: { $gte: least } });
    return createElement('p', null, data.length);
  };
  const page = show(() =>
    Array.from({ length: 300 }, (_, row) => createElement(Row, { key: row, least: -row })),
  );
  await page.reads('2'.repeat(300));
  page.unmount();
});

test('a document that was hidden shows what it had until the next result', async () => {
  const { _id } = await tasks.insert({ title: 'sweep', size: -1 });
  const followers = countFollowers();
  const shown: (string | undefined)[] = [];
  function Title() {
    const { data, status, is_stale } = useLiveDocument(tasks, _id);
    shown.push(`${data?.title} ${status}${is_stale ? ' stale' : ''}`);
    return data?.title;
  }
  let mode: 'visible' | 'hidden' = 'visible';
  const page = show(() => createElement(Activity, { mode, children: createElement(Title) }));
  await page.reads('sweep');
  mode = 'hidden';
  page.draw();
  await expect.poll(followers, { interval: 5 }).toBe(0);
  // Its query ends a turn later.
  await new Promise((resolve) => setTimeout(resolve));
  await tasks.patch(_id, { title: 'mop' });
  mode = 'visible';
  shown.length = 0;
  page.draw();
  await page.reads('mop');
  expect(new Set(shown)).toEqual(new Set(['sweep ready', 'sweep pending stale', 'mop ready']));
  await tasks.delete(_id);
  page.unmount();
});

test.each([
  [
    'a promise',
    () => Promise.resolve(tasks),
    'useLiveQuery() got a promise; pass a DOCUMENT_BASED collection.',
  ],
  [
    'a live query',
    () => tasks.live({}),
    'useLiveQuery() got a live query; pass a DOCUMENT_BASED collection.',
  ],
  [
    'a key-value collection',
    () => new db.Collection({ name: 'settings', type: 'KEY_VALUE_BASED' }),
    'useLiveQuery() got a KEY_VALUE_BASED collection; pass a DOCUMENT_BASED collection.',
  ],
])('%s instead of a collection is an error', async (_, make, message) => {
  let error: unknown;
  const given = make();
  function Wrong() {
    try {
      return String(useLiveQuery(given as never, {}).status);
    } catch (thrown) {
      error = thrown;
      throw thrown;
    }
  }
  const page = show(() => createElement(Wrong));
  await page.reads('option_invalid');
  expect(error).toBeInstanceOf(CairnError);
  expect(error).toMatchObject({ code: 'option_invalid', message });
  page.unmount();
});

test('transitions and a parent that renders often keep one query', async () => {
  const live = vi.spyOn(tasks, 'live');
  let renders = 0;
  function Count() {
    const { data } = useLiveQuery(tasks, { size: { $gte: 1, $lte: 9 } }, { sort: { size: 1 } });
    renders += 1;
    return `${data?.map(({ size }) => size)}`;
  }
  const page = show(() => createElement(Count));
  for (let draws = 0; draws < 30; draws++) startTransition(page.draw);
  await page.reads('1,5');
  for (let draws = 0; draws < 30; draws++) flushSync(page.draw);
  await page.reads('1,5');
  expect(renders).toBeGreaterThan(30);
  expect(live).toHaveBeenCalledTimes(1);
  page.unmount();
});
