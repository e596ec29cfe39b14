import { signal } from '@preact/signals';

/** How orders are placed. */
export type Way = 'transaction' | 'unsafe';

const KEY = 'shop-way';
const kept = (): Way => (localStorage.getItem(KEY) === 'unsafe' ? 'unsafe' : 'transaction');

/** The visitor's choice, shared by all pages of the shop. */
export const way = signal<Way>(kept());

export function chooseWay(chosen: Way): void {
  way.value = chosen;
  localStorage.setItem(KEY, chosen);
}

addEventListener('storage', ({ key }) => {
  if (key === KEY) way.value = kept();
});
