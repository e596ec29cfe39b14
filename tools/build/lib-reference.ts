import type { Plugin } from 'rolldown';

/**
 * Declares a library of TypeScript in one declaration file: the bundler of declarations drops the
 * reference.
 */
export function libReference(file: string, lib: string): Plugin {
  return {
    name: 'lib-reference',
    generateBundle: {
      order: 'post',
      handler(_, bundle) {
        const chunk = bundle[file];
        if (chunk?.type === 'chunk') chunk.code = `/// <reference lib="${lib}" />\n${chunk.code}`;
      },
    },
  };
}
