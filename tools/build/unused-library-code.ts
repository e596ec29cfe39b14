import type { Plugin } from 'rolldown';

/** What libraries run as they load for calls that no worker makes, by the end of their file. */
const UNUSED: Readonly<Record<string, readonly RegExp[]>> = {
  // Functions as arguments and results: with their handler go all calls to the other side.
  'comlink/dist/esm/comlink.mjs': [
    /^ *\["proxy", proxyTransferHandler\],$/m,
    /^const proxyFinalizers =[\s\S]*?^ {4}\}\);$/m,
    // Messages that no page sends.
    /^ *case "SET"[\s\S]*?break;$/m,
    /^ *case "CONSTRUCT"[\s\S]*?(?=^ *case "RELEASE")/m,
  ],
  // Calls of a database without a transaction, and cursors.
  'idb/build/index.js': [
    /^replaceTraps\([\s\S]*?^\}\)\);$/m,
    /^replaceTraps\([\s\S]*?^\}\)\);$/m,
    /^ *if \(getCursorAdvanceMethods\(\)[\s\S]*?^ {4}\}$/m,
  ],
};

/** Leaves out of workers what of libraries nothing calls there, and no bundler can know. */
export function withoutUnusedLibraryCode(): Plugin {
  return {
    name: 'without-unused-library-code',
    transform(code, id) {
      const file = Object.keys(UNUSED).find((end) => id.endsWith(`/node_modules/${end}`));
      if (!file) return null;
      let left = code;
      for (const unused of UNUSED[file] ?? []) {
        if (!unused.test(left)) this.error(`${file} is another version: look at it again`);
        // What follows keeps its place, so that the source map stays right.
        left = left.replace(unused, (found) => found.replace(/./g, ' '));
      }
      return { code: left, map: null };
    },
  };
}
