import { flushSync, mount, unmount } from 'svelte';
import { afterAll, expect, test } from 'vitest';
import * as hooks from '../../../src/bindings/svelte/index.ts';
import { Database } from '../../../src/index.ts';
import { type Hooks, type Rendered, runStories } from '../stories.ts';
import { deepState, reactiveProps } from './props.svelte.ts';
import Story from './story.svelte';

runStories({
  title: 'Svelte',
  track: deepState,
  mount: (use, first) => {
    const renders: Rendered[] = [];
    const props = reactiveProps(first);
    let state: Rendered = {};
    const component = mount(Story, {
      target: document.createElement('div'),
      props: {
        use: () => {
          state = use(
            hooks as Hooks,
            (read) => read,
            () => props.current,
          ) as Rendered;
          return state;
        },
        record: (shown: Rendered) => {
          renders.push(shown);
          return String(shown.status);
        },
      },
    });
    return {
      renders,
      set: (next) => {
        props.current = next;
      },
      read: () => ({ ...state }),
      unmount: () => unmount(component),
    };
  },
});

const db = new Database({ name: 'svelte', storage: 'memory' });
afterAll(() => db.close());

test('criteria may be deep state', async () => {
  const lamps = new db.Collection<{ size: number }>({ name: 'lamps', type: 'DOCUMENT_BASED' });
  await lamps.insertMany([{ size: 1 }, { size: 2 }]);
  const criteria = deepState({ size: { $in: [1] } });
  const texts: string[] = [];
  const component = mount(Story, {
    target: document.createElement('div'),
    props: {
      use: () => hooks.useLiveQuery(lamps, () => criteria),
      record: ({ data }: Rendered) => {
        texts.push(String(data?.length));
        return '';
      },
    },
  });
  await expect.poll(() => texts.at(-1)).toBe('1');
  flushSync(() => criteria.size.$in.push(2));
  await expect.poll(() => texts.at(-1)).toBe('2');
  await unmount(component);
});

test('a function that is written inline is the same query for an event handler', async () => {
  const shelves = new db.Collection<{ size: number }>({ name: 'shelves', type: 'DOCUMENT_BASED' });
  await shelves.insertMany([{ size: 1 }, { size: 2 }]);
  let list: Rendered = {};
  const texts: string[] = [];
  const component = mount(Story, {
    target: document.createElement('div'),
    props: {
      use: () => {
        list = hooks.useLiveQuery(shelves, {}, () => ({ where: ({ size }) => size > 1 }));
        return list;
      },
      record: ({ data }: Rendered) => {
        texts.push(String(data?.length));
        return '';
      },
    },
  });
  await expect.poll(() => texts.at(-1)).toBe('1');
  expect(list).toMatchObject({ status: 'ready', is_stale: false, data: [{ size: 2 }] });
  await unmount(component);
});
