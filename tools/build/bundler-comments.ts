import type { Plugin } from 'rolldown';

const COMMENTS = /import\(\s*((?:\/\*[^*]*\*\/\s*)+)/g;
const KEPT = /import\(`([^`]*@vite-ignore[^`]*) `\+/g;

/**
 * Bundlers warn of an `import()` whose file they cannot know, unless a comment in it tells them not
 * to look, and the minifier strips comments: they pass it as a text, which becomes a comment again.
 */
export function bundlerComments(): Plugin {
  return {
    name: 'bundler-comments',
    transform: {
      filter: { code: /@vite-ignore/ },
      handler: (code) => ({
        code: code.replace(COMMENTS, (_, comments: string) => {
          const text = comments.trim().replace(/\*\/\s+\/\*/g, '*//*');
          return `import(\`${text.slice(2, -2)} \`+`;
        }),
        map: null,
      }),
    },
    generateBundle(_options, bundle) {
      for (const chunk of Object.values(bundle)) {
        // of the same length, so that the source map stays right
        if (chunk.type === 'chunk') chunk.code = chunk.code.replace(KEPT, 'import(/*$1*/');
      }
    },
  };
}
