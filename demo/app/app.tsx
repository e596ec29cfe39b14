import { useSignal, useSignalEffect } from '@preact/signals';
import type { ComponentType } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { messageOf } from '../parts/message-of.ts';
import { Problem } from '../parts/problem.tsx';
import { Announcer } from './announcer.tsx';
import { Brand } from './brand.tsx';
import type { Panel } from './catalogue.ts';
import { loadPanel } from './load-panel.ts';
import { Navigation } from './navigation.tsx';
import { route } from './route.ts';
import { SaveState } from './save-state.tsx';
import { ThemeChoice } from './theme-choice.tsx';
import './app.css';

interface Shown {
  readonly panel: Panel;
  readonly View: ComponentType;
}

/**
 * The frame: brand, navigation, the state of the database, and the panel that the address names.
 */
export function App() {
  const shown = useSignal<Shown | undefined>(undefined);
  const problem = useSignal('');
  const main = useRef<HTMLElement>(null);

  useSignalEffect(() => {
    const panel = route.value;
    problem.value = '';
    loadPanel(panel.id).then(
      (View) => {
        if (route.peek() !== panel) return;
        shown.value = { panel, View };
      },
      (error: unknown) => {
        if (route.peek() !== panel) return;
        problem.value = `"${panel.title}" could not be loaded: ${messageOf(error)}`;
      },
    );
  });

  // The navigation has named the next panel already: the one before must not stand below its name.
  const named = route.value;
  const { panel, View } = shown.value?.panel === named ? shown.value : {};
  const before = useRef<Panel | undefined>(undefined);
  useLayoutEffect(() => {
    if (!panel) return;
    document.title = `${panel.title} · Cairn`;
    if (before.current) {
      scrollTo(0, 0);
      main.current?.querySelector('h1')?.focus();
    }
    before.current = panel;
  }, [panel]);

  return (
    <div class="app">
      {/* No link: the hash is the route's. */}
      <button type="button" class="skip" onClick={() => main.current?.focus()}>
        Skip to the panel
      </button>
      <header class="app-head">
        <Brand />
        <Navigation />
        <div class="app-state">
          <SaveState />
          <ThemeChoice />
        </div>
      </header>
      <main class="app-main" ref={main} tabIndex={-1}>
        <Problem text={problem.value} />
        {View && panel && <View key={panel.id} />}
        {!View && !problem.value && (
          <p class="soft" role="status">
            Loading “{named.title}”…
          </p>
        )}
      </main>
      <Announcer />
    </div>
  );
}
