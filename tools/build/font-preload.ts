import type { Plugin } from 'vite';

const FILES = /(hanken-grotesk|jetbrains-mono)-latin-wght.*\.woff2$/;

/** Pages that show text at once. */
const PAGES = ['/index.html', '/second-page.html'];

/**
 * Preloads the fonts: an `optional` one that is requested with the first text comes too late to be
 * shown.
 */
export function fontPreload(): Plugin {
  return {
    name: 'font-preload',
    transformIndexHtml: {
      order: 'post',
      handler(_html, { bundle, path }) {
        if (!PAGES.includes(path)) return [];
        const files = Object.keys(bundle ?? {}).filter((name) => FILES.test(name));
        return files.map((file) => {
          const attrs = { rel: 'preload', href: `./${file}`, as: 'font', type: 'font/woff2' };
          return { tag: 'link', attrs: { ...attrs, crossorigin: '' }, injectTo: 'head' };
        });
      },
    },
  };
}
