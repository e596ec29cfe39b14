import { computed, ref } from 'vue';

/** The lists by their address: a reload, a link and the back button show the same list. */
const LISTS = { all: {}, open: { done: false }, done: { done: true } } as const;

type Name = keyof typeof LISTS;

export const NAMES = Object.keys(LISTS) as Name[];

const hash = ref(location.hash); // #/open
addEventListener('hashchange', () => {
  hash.value = location.hash;
});

/** The list that the address names, and its criteria. A router's parameters take the same place. */
export const name = computed(() => NAMES.find((each) => `#/${each}` === hash.value) ?? 'all');
export const criteria = computed(() => LISTS[name.value]);
