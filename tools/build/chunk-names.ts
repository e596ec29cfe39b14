import type { Plugin } from 'rolldown';

/** After the renderer, and after the minifier, which makes one text of two. */
const IMPORT = /import\((["'`])\.\/([a-z-]+)\.js\1\)/g;
const NAMED = /import\(([`"'])(webpackChunkName: 'cairndb-[a-z-]+') {4}(\.\/[a-z-]+\.js)\1\)/g;

/**
 * Names the files that load on demand, for webpack and Rspack: unnamed, a file that two others load
 * gets a second chunk once the dev server of Rspack compiles the other one, and the page reloads as
 * all names have changed.
 */
export function chunkNames(): Plugin {
  return {
    name: 'chunk-names',
    renderChunk: (code) => ({
      code: code.replace(
        IMPORT,
        (_, _quote, file) => `import("webpackChunkName: 'cairndb-${file}'    ./${file}.js")`,
      ),
      map: null,
    }),
    generateBundle(_options, bundle) {
      for (const chunk of Object.values(bundle)) {
        // Of the same length, so that the source map stays right.
        if (chunk.type === 'chunk') chunk.code = chunk.code.replace(NAMED, 'import(/*$2*/`$3`)');
      }
    },
  };
}
