import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitepress';
import llms from 'vitepress-plugin-llms';
import { anchorOf } from './anchors.ts';
import { engineInPage } from './engine-in-page.ts';
import { withErrorAnchors } from './error-anchors.ts';
import { placeIndexes } from './index-pages.ts';
import { redirectMoved } from './moved-pages.ts';
import { renderForSearch, weightOf, wordsOfPage, wordsOfQuery } from './search.ts';
import { API, sidebar } from './sidebar.ts';
import { withoutEmptyHeaders } from './table-headers.ts';

const inSite = (path: string) => fileURLToPath(new URL(`../${path}`, import.meta.url));
const description =
  'A document database for browsers: MongoDB criteria, live queries, tabs that share one engine, backups. No setup.';

/** The pages of docs/ as a site. Nothing in it is requested from elsewhere. */
export default defineConfig({
  title: 'Cairn',
  description,
  srcDir: '../docs',
  outDir: 'dist',
  cacheDir: '../node_modules/.cache/vitepress',
  cleanUrls: true,
  head: [
    ['link', { rel: 'icon', type: 'image/svg+xml', href: '/cairn.svg' }],
    ['meta', { name: 'theme-color', content: '#17604c' }],
  ],
  // Both typefaces are `optional`: without a preload the first page shows others.
  transformHead: ({ assets }) =>
    assets
      .filter((file) => /(?:hanken-grotesk|jetbrains-mono)-latin-wght.*\.woff2$/.test(file))
      .map((href) => {
        const font = { rel: 'preload', href, as: 'font', type: 'font/woff2', crossorigin: '' };
        return ['link', font];
      }),
  buildEnd: ({ outDir, pages }) => {
    placeIndexes(outDir, pages);
    redirectMoved(outDir);
  },
  markdown: {
    anchor: { slugify: anchorOf },
    config: (md) => {
      md.core.ruler.push('empty-headers', withoutEmptyHeaders);
      md.core.ruler.push('error-anchors', withErrorAnchors);
    },
    theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' },
  },
  themeConfig: {
    logo: { src: '/cairn.svg', alt: '' },
    nav: [
      { text: 'Get started', link: '/get-started', activeMatch: '/get-started' },
      { text: 'Guides', link: '/guides/modelling', activeMatch: '/guides/' },
      { text: 'Sync', link: '/sync', activeMatch: '/sync' },
      { text: 'Recipes', link: '/recipes/', activeMatch: '/recipes/|/examples' },
      { text: 'Reference', link: '/reference/clients', activeMatch: '/reference/|/api/|/errors' },
      { text: 'Benchmarks', link: '/benchmarks', activeMatch: '/benchmarks' },
    ],
    sidebar: sidebar(),
    outline: [2, 3],
    search: {
      provider: 'local',
      options: {
        _render: renderForSearch,
        miniSearch: {
          options: { tokenize: wordsOfPage },
          searchOptions: {
            ...{ fuzzy: 0.2, prefix: true, boost: { title: 4, text: 2 } },
            ...{ tokenize: wordsOfQuery, boostDocument: weightOf },
          },
        },
      },
    },
    footer: { message: 'MIT license.' },
  },
  vite: {
    publicDir: inSite('public'),
    build: { chunkSizeWarningLimit: 1500 },
    plugins: [
      engineInPage(),
      llms({
        title: 'Cairn (npm package cairndb)',
        description,
        ignoreFiles: [`${API}/**`], // editors show the same
        ignoreFilesPerOutput: { llmsTxt: ['benchmarks/**'], llmsFullTxt: ['benchmarks/**'] },
        injectLLMHint: false,
      }) as never, // typed for another version of Vite
    ],
  },
});
