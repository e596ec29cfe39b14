import { createElement, type ReactNode, StrictMode } from 'react';
import { flushSync } from 'react-dom';
import { createRoot } from 'react-dom/client';
import * as hooks from '../../../src/bindings/react/index.ts';
import { type Framework, type Hooks, type Rendered, runStories } from '../stories.ts';

function frameworkOf(title: string, wrap: (node: ReactNode) => ReactNode): Framework {
  return {
    title,
    track: (fields) => ({ ...fields }),
    rendersTwice: title.includes('StrictMode'),
    mount: (use, first) => {
      const renders: Rendered[] = [];
      const Component = ({ props }: { props: Rendered }) => {
        const state = use(
          hooks as Hooks,
          (read) => read(),
          () => props,
        ) as Rendered;
        renders.push({ ...state });
        return createElement('p', {}, String(state.status));
      };
      const root = createRoot(document.createElement('div'));
      const set = (props: Rendered) =>
        flushSync(() => root.render(wrap(createElement(Component, { props }))));
      set(first);
      return {
        renders,
        set,
        read: () => renders.at(-1) as Rendered,
        unmount: () => root.unmount(),
      };
    },
  };
}

runStories(frameworkOf('React', (node) => node));
runStories(frameworkOf('React in StrictMode', (node) => createElement(StrictMode, {}, node)));
