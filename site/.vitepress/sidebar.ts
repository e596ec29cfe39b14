import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { DefaultTheme } from 'vitepress';

type Item = DefaultTheme.SidebarItem;

const DOCS = fileURLToPath(new URL('../../docs/', import.meta.url));

/** The folder in docs/ where TypeDoc writes the reference. */
export const API = 'api';

/** The pages of each part, in the order of reading. */
const PARTS: readonly [title: string, pages: readonly string[]][] = [
  [
    'Get started',
    [
      'get-started',
      'get-started/vanilla',
      'get-started/react',
      'get-started/vue',
      'get-started/svelte',
      'get-started/solid',
      'examples',
      'frameworks',
      ...pagesIn('frameworks'),
      'guides/angular',
      'guides/tanstack-db',
      'guides/yjs',
      'guides/automerge',
      'bundlers',
      ...pagesIn('bundlers'),
    ],
  ],
  [
    'Guides',
    [
      'guides/modelling',
      'guides/relations',
      'guides/schemas',
      'guides/migrations',
      'guides/queries',
      'guides/aggregation',
      'guides/search',
      'guides/live-queries',
      'guides/changing-data',
      'guides/transactions',
      'guides/undo',
      'guides/caching-api-responses',
      'guides/backups',
      'guides/backups-elsewhere',
      'guides/tabs',
      'guides/durability',
      'guides/storage',
      'guides/node',
      'guides/native-apps',
      'guides/offline',
      'testing',
      ...pagesIn('testing'),
      'guides/performance',
      'guides/security',
      'guides/encryption',
      'devtools',
    ],
  ],
  [
    'Sync with your server',
    [
      'sync',
      'sync/status',
      'sync/conflicts',
      'sync/scopes',
      'sync/files',
      'sync/encrypted',
      'sync/outbox',
    ],
  ],
  [
    'Backends of sync',
    [
      'sync/server',
      'sync/postgres',
      'sync/tables',
      'sync/couchdb',
      'sync/supabase',
      'sync/graphql',
      'sync/adapters',
    ],
  ],
  ['Recipes', pagesIn('recipes')],
  ['Migrating', pagesIn('migrating')],
  [
    'Reference',
    [
      'reference/clients',
      'reference/collections',
      'reference/queries',
      'reference/update-operators',
      'reference/expressions',
      'reference/key-values',
      'reference/saving',
      'reference/types',
      'errors',
      `${API}/index`,
    ],
  ],
  ['About', ['comparison', 'benchmarks', 'architecture', 'glossary']],
];

/**
 * The sidebar. A page that is not there is left out; a page that no part lists is added to the last
 * one.
 */
export function sidebar(): Item[] {
  const parts = PARTS.map(([text, pages]) => ({ text, items: pages.flatMap(itemOf) }));
  const listed = new Set(PARTS.flatMap(([, pages]) => pages));
  const others = pagesIn('').filter((page) => !listed.has(page) && page !== 'index');
  const about = parts.at(-1)?.items ?? [];
  const decisions = pagesIn('decisions');
  about.push(...others.flatMap(itemOf), {
    text: 'Decisions',
    link: `/${decisions[0]}`, // a link, so that its arrow is no button within a button
    collapsed: true,
    items: decisions.flatMap(itemOf),
  });
  return parts.filter(({ items }) => items.length > 0);
}

/** The results of the benchmarks, from few documents to many. */
function results(): Item[] {
  const bySize = (page: string) => Number(page.split('/')[1]) || Number.POSITIVE_INFINITY;
  const pages = pagesIn('benchmarks').toSorted((a, b) => bySize(a) - bySize(b));
  return pages.flatMap(itemOf);
}

/** The pages of a folder, by name, its index first. */
function pagesIn(folder: string): string[] {
  if (!existsSync(`${DOCS}${folder}`)) return [];
  const names = readdirSync(`${DOCS}${folder}`).filter((name) => name.endsWith('.md'));
  const prefix = folder && `${folder}/`;
  const pages = names.map((name) => name.replace('.md', ''));
  const indexFirst = (page: string) => (page === 'index' ? '' : page);
  return pages
    .toSorted((a, b) => (indexFirst(a) < indexFirst(b) ? -1 : 1))
    .map((page) => `${prefix}${page}`);
}

function itemOf(page: string): Item[] {
  const file = `${DOCS}${page}.md`;
  if (!existsSync(file)) return [];
  const [, title = page] = /^# (.+)$/m.exec(readFileSync(file, 'utf8')) ?? [];
  const item = { text: title.replaceAll('`', ''), link: `/${page.replace(/(^|\/)index$/, '$1')}` };
  return [page === 'benchmarks' ? { ...item, collapsed: true, items: results() } : item];
}
