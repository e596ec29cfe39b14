import { createSignal } from 'solid-js';
import { createMutable } from 'solid-js/store';
import { render } from 'solid-js/web';
import * as hooks from '../../../src/bindings/solid/index.ts';
import { type Hooks, type Rendered, runStories } from '../stories.ts';

const METHODS = ['loadMore', 'set', 'save', 'reset'];

runStories({
  title: 'Solid',
  track: createMutable,
  mount: (use, first) => {
    const renders: Rendered[] = [];
    const [props, set] = createSignal(first);
    let state: Record<string, () => unknown> = {};
    const read = (): Rendered =>
      Object.fromEntries(
        Object.entries(state).map(([name, value]) => [
          name,
          METHODS.includes(name) ? value : value(),
        ]),
      );
    const unmount = render(() => {
      state = use(hooks as Hooks, (read) => read, props) as typeof state;
      const text = () => {
        const shown = read();
        renders.push(shown);
        return String(shown.status);
      };
      return text as never;
    }, document.createElement('div'));
    return { renders, set, read, unmount };
  },
});
