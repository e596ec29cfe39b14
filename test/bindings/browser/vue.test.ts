import { afterAll, expect, test } from 'vitest';
import { createApp, effectScope, h, reactive, ref, shallowRef, unref } from 'vue';
import * as hooks from '../../../src/bindings/vue/index.ts';
import { Database } from '../../../src/index.ts';
import { type Hooks, type Rendered, runStories } from '../stories.ts';

// Vue asks for these where no bundler replaces them.
Object.assign(globalThis, {
  __VUE_OPTIONS_API__: true,
  __VUE_PROD_DEVTOOLS__: false,
  __VUE_PROD_HYDRATION_MISMATCH_DETAILS__: true,
});

runStories({
  title: 'Vue',
  track: (fields) => reactive(fields) as typeof fields,
  mount: (use, first) => {
    const renders: Rendered[] = [];
    const props = shallowRef(first);
    let state: Rendered = {};
    const read = () =>
      Object.fromEntries(Object.entries(state).map(([name, value]) => [name, unref(value)]));
    const app = createApp({
      setup: () => {
        state = use(
          hooks as Hooks,
          (read) => read,
          () => props.value,
        ) as Rendered;
        return () => {
          const shown = read();
          renders.push(shown);
          return h('p', String(shown.status));
        };
      },
    });
    app.mount(document.createElement('div'));
    return {
      renders,
      set: (next) => {
        props.value = next;
      },
      read,
      unmount: () => app.unmount(),
    };
  },
});

const db = new Database({ name: 'vue', storage: 'memory' });
afterAll(() => db.close());

test('a collection and criteria may be reactive, within a scope of its own', async () => {
  const lamps = new db.Collection<{ size: number; tags?: string[] }>({
    name: 'lamps',
    type: 'DOCUMENT_BASED',
  });
  await lamps.insertMany([{ size: 1 }, { size: 2, tags: ['red'] }]);
  const criteria = reactive({ size: { $in: [1] } });
  const shop = reactive({ lamps });
  const held = ref(lamps);
  const scope = effectScope();
  const list = scope.run(() => hooks.useLiveQuery(() => shop.lamps as typeof lamps, criteria));
  const count = scope.run(() => hooks.useLiveCount(held as typeof held & { value: typeof lamps }));
  await expect.poll(() => list?.data.value).toHaveLength(1);
  await expect.poll(() => count?.data.value).toBe(2);
  criteria.size.$in.push(2);
  await expect.poll(() => list?.data.value).toHaveLength(2);
  scope.stop();
  await lamps.insert({ size: 1 });
  expect(list?.data.value).toHaveLength(2);
});
