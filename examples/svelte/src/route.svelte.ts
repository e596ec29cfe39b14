/** The lists by their address: a reload, a link and the back button show the same list. */
const LISTS = { all: {}, open: { done: false }, done: { done: true } } as const;

type Name = keyof typeof LISTS;

export const NAMES = Object.keys(LISTS) as Name[];

let hash = $state(location.hash); // #/open
addEventListener('hashchange', () => {
  hash = location.hash;
});

/** The list that the address names, and its criteria. A router's parameters take the same place. */
export const route = {
  get name(): Name {
    return NAMES.find((each) => `#/${each}` === hash) ?? 'all';
  },
  get criteria() {
    return LISTS[route.name];
  },
};
