import { signal } from '@preact/signals';
import { PANELS, type Panel } from './catalogue.ts';

const [start] = PANELS;

function panelOfHash(): Panel {
  const id = location.hash.replace(/^#\/?/, '');
  return PANELS.find((panel: Panel) => panel.id === id) ?? start;
}

/** The panel that the address names; an unknown one is the first. */
export const route = signal(panelOfHash());

addEventListener('hashchange', () => {
  route.value = panelOfHash();
});

export const hrefOf = ({ id }: Pick<Panel, 'id'>): string => `#/${id}`;
