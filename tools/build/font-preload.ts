import type { Plugin } from 'vite';

const FILE = /hanken-grotesk-latin-wght.*\.woff2$/;

/** Pages that show text at once. */
const PAGES = ['/index.html', '/second-page.html'];

/** Preloads the font, so that text is never laid out twice. */
export function fontPreload(): Plugin {
  return {
    name: 'font-preload',
    transformIndexHtml: {
      order: 'post',
      handler(_html, { bundle, path }) {
        if (!PAGES.includes(path)) return [];
        const file = Object.keys(bundle ?? {}).find((name) => FILE.test(name));
        if (!file) return [];
        const attrs = { rel: 'preload', href: `./${file}`, as: 'font', type: 'font/woff2' };
        return [{ tag: 'link', attrs: { ...attrs, crossorigin: '' }, injectTo: 'head' }];
      },
    },
  };
}
