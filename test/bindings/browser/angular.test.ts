// First: it compiles the components of this file in the browser.
import '@angular/compiler';
import {
  Component,
  computed,
  createComponent,
  createEnvironmentInjector,
  type EnvironmentInjector,
  provideCheckNoChangesConfig,
  provideZonelessChangeDetection,
  runInInjectionContext,
  signal,
} from '@angular/core';
import { createApplication } from '@angular/platform-browser';
import { afterAll, expect, test, vi } from 'vitest';
import * as hooks from '../../../src/bindings/angular/index.ts';
import { Database, type LiveQuery } from '../../../src/index.ts';
import { type Hooks, type Rendered, runStories } from '../stories.ts';

/** The stories name hooks as React does. */
const named = Object.fromEntries(
  Object.entries(hooks).map(([name, hook]) => [name.replace('inject', 'use'), hook]),
) as Hooks;

const METHODS = ['loadMore', 'set', 'save', 'reset'];

// Strict: after each rendering all bindings are read again, and a value that differs is an error.
const app = await createApplication({
  providers: [provideZonelessChangeDetection(), provideCheckNoChangesConfig({ exhaustive: true })],
});

/** Renders what a function makes in the injection context of a component. */
function render<V>(make: () => V, text: (made: V) => string, injector = app.injector) {
  class Page {
    readonly text = computed(() => text(this.made));
    readonly made = make();
  }
  const page = Component({ selector: 'app-page', template: '<p>{{ text() }}</p>' })(Page) ?? Page;
  const reference = createComponent(page as typeof Page, {
    environmentInjector: injector,
    hostElement: document.createElement('div'),
  });
  app.attachView(reference.hostView);
  app.tick();
  return reference;
}

runStories({
  title: 'Angular',
  track: (fields) => fields,
  mount: (use, first) => {
    const renders: Rendered[] = [];
    const props = signal(first);
    const read = (state: Rendered): Rendered =>
      Object.fromEntries(
        Object.entries(state).map(([name, value]) => [
          name,
          METHODS.includes(name) ? value : value(),
        ]),
      );
    const component = render(
      () => use(named, (read) => read, props) as Rendered,
      (state) => {
        const shown = read(state);
        renders.push(shown);
        return String(shown.status);
      },
    );
    return {
      renders,
      set: (next) => {
        props.set(next);
        app.tick();
      },
      read: () => read(component.instance.made),
      unmount: () => component.destroy(),
    };
  },
});

const db = new Database({ name: 'angular', storage: 'memory' });
const lamps = new db.Collection<{ size: number }>({ name: 'lamps', type: 'DOCUMENT_BASED' });
afterAll(async () => {
  app.destroy();
  await db.close();
});

test('a query of a service ends with its injector', async () => {
  let readers = 0;
  const original = lamps.live.bind(lamps) as (...given: unknown[]) => LiveQuery<unknown>;
  vi.spyOn(lamps, 'live').mockImplementation(((...given: unknown[]) => {
    const query = original(...given);
    const subscribe: LiveQuery<unknown>['subscribe'] = (listener) => {
      readers++;
      const stop = query.subscribe(listener);
      return () => {
        readers--;
        stop();
      };
    };
    return Object.assign(Object.create(query), { subscribe });
  }) as never);
  const injector = createEnvironmentInjector([], app.injector as EnvironmentInjector);
  const list = runInInjectionContext(injector, () => hooks.injectLiveQuery(lamps, {}));
  await lamps.insert({ size: 1 });
  await expect.poll(() => list.data()).toHaveLength(1);
  expect(readers).toBe(1);
  injector.destroy();
  await expect.poll(() => readers).toBe(0);
});

test('an argument that is read too early is not read until the first rendering', async () => {
  // As a required input, which throws in the constructor of its component.
  const size = signal<number | undefined>(undefined);
  const readSize = () => {
    const given = size();
    if (given === undefined) throw new Error('NG0950');
    return given;
  };
  const make = () => hooks.injectLiveCount(lamps, () => ({ size: readSize() }));
  const component = render(
    () => {
      const count = make();
      size.set(1);
      return count;
    },
    ({ data }) => `${data() ?? 'none'}`,
  );
  await expect.poll(() => component.location.nativeElement.textContent).toBe('1');
  component.destroy();
});

test('a wrong argument names the hook, where the result is read', async () => {
  const settings = new db.Collection({ name: 'settings', type: 'KEY_VALUE_BASED' });
  const component = render(
    () => hooks.injectLiveCount(lamps, {}),
    ({ data }) => `${data() ?? 'none'}`,
  );
  await expect.poll(() => component.instance.made.status()).toBe('ready');
  component.destroy();
  const wrong = runInInjectionContext(
    createEnvironmentInjector([], app.injector as EnvironmentInjector),
    () => hooks.injectLiveCount(settings as never, {}),
  );
  expect(() => wrong.data()).toThrow('injectLiveCount() got a KEY_VALUE_BASED collection');
});
