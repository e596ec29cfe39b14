import {
  createEnvironmentInjector,
  type EnvironmentInjector,
  Injector,
  PLATFORM_ID,
  runInInjectionContext,
  ɵINJECTOR_SCOPE,
} from '@angular/core';
import { createElement, Suspense } from 'react';
import { renderToString as renderReact } from 'react-dom/server';
import { renderToString as renderSolid, ssr, ssrHydrationKey } from 'solid-js/web';
import { render as renderSvelte } from 'svelte/server';
import { afterEach, expect, test, vi } from 'vitest';
import { createSSRApp, h, unref } from 'vue';
import { renderToString as renderVue } from 'vue/server-renderer';
import * as angular from '../../src/bindings/angular/index.ts';
import * as react from '../../src/bindings/react/index.ts';
import * as solid from '../../src/bindings/solid/index.ts';
import * as svelte from '../../src/bindings/svelte/index.ts';
import * as vue from '../../src/bindings/vue/index.ts';
import { Database } from '../../src/index.ts';
import ServerPage from './server-page.svelte';
import { type Case, FROM_LOADER, PAGES, TEXTS, textOf, useCase } from './server-pages.ts';
import type { Hooks } from './stories.ts';

interface Order {
  item: string;
  price: number;
}

// In memory, as on servers: with IndexedDB, a collection opens as soon as it is constructed.
const db = new Database({ name: 'on a server', storage: 'memory' });
const orders = new db.Collection<Order>({ name: 'orders', type: 'DOCUMENT_BASED' });

afterEach(() => {
  expect(db.status.state).toBe('idle');
});

const servers: Record<string, (which: Case) => string | Promise<string>> = {
  react: (which) => {
    const Page = () => createElement('p', {}, textOf(useCase(react as Hooks, which, orders)));
    return renderReact(createElement(Page));
  },
  vue: (which) =>
    renderVue(
      createSSRApp({
        setup: () => {
          const { data, status } = useCase(vue as Hooks, which, orders);
          return () => h('p', textOf({ data: unref(data), status: unref(status) }));
        },
      }),
    ),
  svelte: (which) =>
    renderSvelte(ServerPage, { props: { use: () => useCase(svelte as Hooks, which, orders) } })
      .body,
  solid: (which) =>
    renderSolid(() => {
      const { data, status } = useCase(solid as Hooks, which, orders);
      const text = textOf({ data: data(), status: status() });
      return ssr(['<p', '>', '</p>'], ssrHydrationKey(), text) as never;
    }),
};

test.each(
  Object.keys(servers).flatMap((name) =>
    (['initial', 'none'] as const).map((which) => [name, which] as const),
  ),
)('%s renders on a server (%s) and starts nothing', async (name, which) => {
  const subscribe = vi.spyOn(orders, 'live');
  expect(await servers[name]!(which)).toBe(PAGES[name]!(TEXTS[which]));
  // The live query is not even made.
  expect(subscribe).not.toHaveBeenCalled();
});

/** What Angular's server rendering gives to a component; its renderer is no dependency. */
test.each(['initial', 'none'] as const)(
  'angular has on a server (%s) its first state, and starts nothing',
  (which) => {
    const subscribe = vi.spyOn(orders, 'live');
    const injector = createEnvironmentInjector(
      [
        { provide: PLATFORM_ID, useValue: 'server' },
        { provide: ɵINJECTOR_SCOPE, useValue: 'root' },
      ],
      Injector.NULL as EnvironmentInjector,
    );
    const { data, status } = runInInjectionContext(injector, () =>
      useCase({ useLiveQuery: angular.injectLiveQuery } as never, which, orders),
    );
    expect(textOf({ data: data(), status: status() })).toBe(TEXTS[which]);
    injector.destroy();
    expect(subscribe).not.toHaveBeenCalled();
  },
);

test('React renders a suspended query from initial data, or its fallback', () => {
  const Page = ({ options }: { options?: object }) =>
    createElement('p', {}, textOf(react.useLiveSuspenseQuery(orders, {}, options)));
  const page = (options?: object) =>
    renderReact(
      createElement(
        Suspense,
        { fallback: 'loading' },
        createElement(Page, options ? { options } : {}),
      ),
    );
  expect(page({ initial: FROM_LOADER })).toContain('<p>ready: lamp</p>');
  expect(page()).toContain('loading');
});
