import { basename } from 'node:path';
import type { Plugin } from 'rolldown';

/**
 * `import text from './file.sql'` is the text of the file.
 *
 * @param isFile Whether a build also writes the file beside its result.
 */
export function sqlText(isFile = true): Plugin {
  const files = new Map<string, string>();
  return {
    name: 'sql-text',
    transform: {
      filter: { id: /\.sql$/ },
      handler(source, id) {
        files.set(basename(id), source);
        return { code: `export default ${JSON.stringify(source)};`, moduleType: 'js', map: null };
      },
    },
    generateBundle() {
      if (!isFile) return;
      for (const [fileName, source] of files) this.emitFile({ type: 'asset', fileName, source });
    },
  };
}
