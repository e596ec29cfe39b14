import type { Plugin } from 'rolldown';

const COMPILED_IMPORT = /Promise\.resolve\(\)\.then\((?=\(\)=>)/g;

/**
 * Parcel takes `Promise.resolve().then(() => …)` for an `import()` that another compiler has
 * rewritten, and makes it wait for the file that an `import()` elsewhere in the same file names.
 */
export function withoutCompiledImports(): Plugin {
  return {
    name: 'without-compiled-imports',
    generateBundle(_options, bundle) {
      for (const chunk of Object.values(bundle)) {
        // Of the same length, so that the source map stays right.
        if (chunk.type === 'chunk')
          chunk.code = chunk.code.replace(COMPILED_IMPORT, '(async()=>{})()  .then(');
      }
    },
  };
}
