import { useSyncExternalStore } from 'react';

/** The lists by their address: a reload, a link and the back button show the same list. */
const LISTS = { all: {}, open: { done: false }, done: { done: true } } as const;

type Name = keyof typeof LISTS;

export const NAMES = Object.keys(LISTS) as Name[];

function current(): Name {
  const name = location.hash.slice(2); // #/open
  return NAMES.find((each) => each === name) ?? 'all';
}

function subscribe(listener: () => void) {
  addEventListener('hashchange', listener);
  return () => removeEventListener('hashchange', listener);
}

/** The list that the address names, and its criteria. A router's parameters take the same place. */
export function useList() {
  const name = useSyncExternalStore(subscribe, current);
  return { name, criteria: LISTS[name] };
}
