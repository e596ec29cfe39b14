import { createSignal } from 'solid-js';

/** The lists by their address: a reload, a link and the back button show the same list. */
const LISTS = { all: {}, open: { done: false }, done: { done: true } } as const;

type Name = keyof typeof LISTS;

export const NAMES = Object.keys(LISTS) as Name[];

const [hash, setHash] = createSignal(location.hash); // #/open
addEventListener('hashchange', () => setHash(location.hash));

/** The list that the address names, and its criteria. A router's parameters take the same place. */
export const listName = (): Name => NAMES.find((each) => `#/${each}` === hash()) ?? 'all';
export const listCriteria = () => LISTS[listName()];
