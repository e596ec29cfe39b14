import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { type Plugin, transformWithOxc } from 'vite';

const ASKED = '.md?code';
const PACKAGE = /^cairndb\/?(\w*)$/;
const SOURCE = fileURLToPath(new URL('../../src/', import.meta.url));

/**
 * `import { move } from './page.md?code'` is the first block of TypeScript of a page, so that a
 * test runs the very code that the page shows, over the sources of the package.
 */
export function pageCode(): Plugin {
  return {
    name: 'page-code',
    enforce: 'pre', // before Vite takes the page for an asset
    resolveId(id, importer) {
      const [, entry] = (importer?.endsWith(ASKED) && PACKAGE.exec(id)) || [];
      return entry === undefined ? null : `${SOURCE}${entry}/index.ts`.replace('//', '/');
    },
    async load(id) {
      if (!id.endsWith(ASKED)) return null;
      const file = id.slice(0, -'?code'.length);
      this.addWatchFile(file);
      const code = /^```ts\b[^\n]*\n(.*?)^```$/ms.exec(readFileSync(file, 'utf8'))?.[1];
      if (code === undefined) throw new Error(`${file} has no block of TypeScript.`);
      return { ...(await transformWithOxc(code, `${file}.ts`)), moduleType: 'js' };
    },
  };
}
