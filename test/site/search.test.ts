import { readdirSync } from 'node:fs';
import MiniSearch from 'minisearch';
import { beforeAll, expect, test } from 'vitest';
import { weightOf, wordsOfPage, wordsOfQuery } from '../../site/.vitepress/search.ts';
import { ROOT } from '../../tools/setup.mjs';

const CHUNKS = `${ROOT}site/dist/assets/chunks/`;

/** What a newcomer types, and the page that is among the first two results, or one of two. */
const QUESTIONS: Readonly<Record<string, readonly string[]>> = {
  install: ['/get-started'],
  'getting started': ['/get-started'],
  react: ['/get-started/react'],
  angular: ['/guides/angular'],
  'next.js': ['/frameworks/rendering'],
  login: ['/recipes/logins'],
  auth: ['/recipes/logins'],
  'per user database': ['/recipes/logins'],
  logout: ['/recipes/wiping', '/recipes/logins'],
  'delete all data': ['/recipes/wiping'],
  backup: ['/guides/backups'],
  export: ['/guides/backups'],
  sync: ['/sync'],
  'sync with postgres': ['/sync/postgres'],
  offline: ['/guides/offline'],
  conflict: ['/sync/conflicts'],
  search: ['/guides/search'],
  'full text search': ['/guides/search'],
  pagination: ['/recipes/tables', '/recipes/infinite-scroll'],
  'infinite scroll': ['/recipes/infinite-scroll'],
  join: ['/guides/relations', '/recipes/joins'],
  'group by': ['/guides/aggregation', '/recipes/aggregates'],
  sort: ['/recipes/tables', '/guides/queries'],
  index: ['/guides/queries'],
  update: ['/guides/changing-data', '/reference/update-operators'],
  transaction: ['/guides/transactions'],
  'live query': ['/guides/live-queries'],
  'upload images': ['/recipes/attachments'],
  files: ['/sync/files', '/recipes/attachments'],
  migration: ['/guides/migrations'],
  schema: ['/guides/schemas'],
  encryption: ['/guides/encryption'],
  password: ['/guides/encryption'],
  'multiple tabs': ['/guides/tabs'],
  'service worker': ['/bundlers/service-workers', '/guides/offline'],
  'quota exceeded': ['/guides/storage'],
  'lost data': ['/guides/durability'],
  performance: ['/guides/performance'],
  'slow query': ['/recipes/debugging', '/guides/performance'],
  compare: ['/comparison'],
  'how does it compare to dexie': ['/comparison', '/migrating/dexie'],
  dexie: ['/migrating/dexie'],
  test: ['/testing'],
  jest: ['/testing/jest'],
  node: ['/guides/node'],
  'react native': ['/guides/native-apps'],
  'content security policy': ['/bundlers/policies', '/guides/security'],
  'bundle size': ['/bundle-size'],
  'typescript types': ['/reference/types'],
  counter: ['/recipes/counters'],
  undo: ['/guides/undo'],
  storage_full: ['/errors'],
  save_timeout: ['/reference/saving', '/reference/collections'],
  BackupError: ['/errors'],
  connect: ['/reference/clients', '/get-started'],
  $inc: ['/reference/update-operators'],
  supabase: ['/sync/supabase'],
  'unique index': ['/guides/queries'],
};

let index: MiniSearch;

beforeAll(async () => {
  const file = readdirSync(CHUNKS).find((name) => name.startsWith('@localSearchIndex'));
  const { default: json } = (await import(`${CHUNKS}${file}`)) as { default: string };
  // As the search box of VitePress reads it, with the options of the site.
  index = MiniSearch.loadJSON(json, {
    fields: ['title', 'titles', 'text'],
    storeFields: ['title', 'titles'],
    tokenize: wordsOfPage,
    searchOptions: {
      ...{ fuzzy: 0.2, prefix: true, boost: { title: 4, text: 2 } },
      ...{ tokenize: wordsOfQuery, boostDocument: weightOf as never },
    },
  });
});

test.each(Object.entries(QUESTIONS))('%s', (question, pages) => {
  const found = index.search(question).slice(0, 2);
  const shown = found.map(({ id }) => String(id).replace(/#.*/, ''));
  expect(
    pages.some((page) => shown.includes(page)),
    shown.join(' '),
  ).toBe(true);
});
