import type { Hooks } from './stories.ts';

/** What the tests of rendering on a server, and of hydrating that in a browser, have in common. */
export const FROM_LOADER = [
  { _id: 'a', _updated: false, _archived: false, item: 'lamp', price: 40 },
];

/** The text that a component shows. */
export const textOf = ({ data, status }: { data: any; status: string }): string =>
  `${status}: ${data?.map(({ item }: { item: string }) => item).join() ?? 'no data'}`;

/** What a server renders: with data of a loader, and without. */
export const TEXTS = { initial: 'ready: lamp', none: 'pending: no data' };

export type Case = keyof typeof TEXTS;

/** Calls the hook of a case. */
export const useCase = (hooks: Pick<Hooks, 'useLiveQuery'>, which: Case, orders: unknown) =>
  hooks.useLiveQuery(
    orders,
    { price: { $gt: 1 } },
    which === 'initial' ? { initial: FROM_LOADER } : {},
  );

/**
 * What each framework renders on a server: the test in Node makes it, the one in a browser hydrates
 * it.
 */
export const PAGES: Record<string, (text: string) => string> = {
  react: (text) => `<p>${text}</p>`,
  vue: (text) => `<p>${text}</p>`,
  svelte: (text) => `<!--[--><p>${text}</p><!--]-->`,
  solid: (text) => `<p data-hk="0">${text}</p>`,
};
