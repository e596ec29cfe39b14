import { createElement } from 'react';
import { hydrateRoot } from 'react-dom/client';
import { getNextElement, hydrate as hydrateSolid, insert, template } from 'solid-js/web';
import { hydrate as hydrateSvelte, unmount } from 'svelte';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { createSSRApp, h, unref } from 'vue';
import * as react from '../../../src/bindings/react/index.ts';
import * as solid from '../../../src/bindings/solid/index.ts';
import * as svelte from '../../../src/bindings/svelte/index.ts';
import * as vue from '../../../src/bindings/vue/index.ts';
import { Database, type DocumentCollection } from '../../../src/index.ts';
import ServerPage from '../server-page.svelte';
import { type Case, PAGES, TEXTS, textOf, useCase } from '../server-pages.ts';
import type { Hooks } from '../stories.ts';

interface Order {
  item: string;
  price: number;
}

let db: Database;
let orders: DocumentCollection<Order>;

beforeAll(async () => {
  // Vue asks for these where no bundler replaces them.
  const flags = { OPTIONS_API: true, PROD_DEVTOOLS: false, PROD_HYDRATION_MISMATCH_DETAILS: true };
  for (const [name, value] of Object.entries(flags))
    Reflect.set(globalThis, `__VUE_${name}__`, value);
  Reflect.set(globalThis, '_$HY', { events: [], completed: new WeakSet(), r: {} });
  db = new Database({ name: 'hydration', storage: 'memory' });
  orders = new db.Collection<Order>({ name: 'orders', type: 'DOCUMENT_BASED' });
  await orders.insertMany([
    { item: 'desk', price: 200 },
    { item: 'chair', price: 90 },
  ]);
});
afterAll(() => db.close());
afterEach(() => vi.restoreAllMocks());

type Hydrate = (element: HTMLElement, which: Case, report: (error: unknown) => void) => () => void;

const browsers: Record<string, Hydrate> = {
  react: (element, which, report) => {
    const Page = () => createElement('p', {}, textOf(useCase(react as Hooks, which, orders)));
    const root = hydrateRoot(element, createElement(Page), { onRecoverableError: report });
    return () => root.unmount();
  },
  vue: (element, which) => {
    const app = createSSRApp({
      setup: () => {
        const { data, status } = useCase(vue as Hooks, which, orders);
        return () => h('p', textOf({ data: unref(data), status: unref(status) }));
      },
    });
    app.mount(element);
    return () => app.unmount();
  },
  svelte: (element, which) => {
    const use = () => useCase(svelte as Hooks, which, orders);
    const page = hydrateSvelte(ServerPage, { target: element, props: { use } });
    return () => void unmount(page);
  },
  solid: (element, which) =>
    hydrateSolid(() => {
      const { data, status } = useCase(solid as Hooks, which, orders);
      const paragraph = getNextElement(template('<p> '));
      insert(paragraph, () => textOf({ data: data(), status: status() }), undefined, [
        ...paragraph.childNodes,
      ]);
      return paragraph;
    }, element),
};

test.each(
  Object.keys(browsers).flatMap((name) =>
    (['initial', 'none'] as const).flatMap((which) =>
      [false, true].map((isRunning) => [name, which, isRunning] as const),
    ),
  ),
)(
  '%s hydrates (%s; query running: %s) what the server rendered, then shows the database',
  async (name, which, isRunning) => {
    const problems: unknown[] = [];
    for (const method of ['warn', 'error'] as const)
      vi.spyOn(console, method).mockImplementation((...args) => problems.push(args));
    // Another component may have the result already.
    const other = document.createElement('div');
    const leave = isRunning ? browsers.vue!(other, which, () => undefined) : undefined;
    if (isRunning) await expect.poll(() => other.textContent).toBe('ready: desk,chair');
    problems.length = 0;

    const element = document.createElement('main');
    element.innerHTML = PAGES[name]!(TEXTS[which]);
    const paragraph = element.querySelector('p');
    const texts = [element.textContent];
    new MutationObserver(() => texts.push(element.textContent)).observe(element, {
      subtree: true,
      childList: true,
      characterData: true,
    });
    const stop = browsers[name]!(element, which, (error) => problems.push(error));
    await expect.poll(() => element.textContent).toBe('ready: desk,chair');
    expect(problems).toEqual([]);
    expect(element.querySelector('p')).toBe(paragraph);
    expect(new Set(texts)).toEqual(new Set([TEXTS[which], 'ready: desk,chair']));
    stop();
    leave?.();
  },
);
