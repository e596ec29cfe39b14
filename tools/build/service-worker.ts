import { createHash } from 'node:crypto';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'rolldown';
import type { Plugin } from 'vite';

const ENTRY = fileURLToPath(new URL('../../demo/service-worker/index.ts', import.meta.url));

/** Files with a content hash in their name. */
const IS_HASHED = /^assets\//;

/**
 * Writes `sw.js` beside the built page: a service worker that keeps all of its files, so that it
 * opens without a network.
 */
export function serviceWorker(): Plugin {
  return {
    name: 'service-worker',
    apply: 'build',
    async writeBundle({ dir = '' }) {
      const files = await listFiles(dir);
      await writeFile(join(dir, 'sw.js'), await bundleWith(files));
    },
  };
}

interface Entry {
  readonly url: string;
  /** The content hash of files without one in their name. */
  readonly revision: string | null;
}

async function listFiles(folder: string): Promise<Entry[]> {
  const found = await readdir(folder, { recursive: true, withFileTypes: true });
  const paths = found
    .filter((each) => each.isFile())
    .map((each) => join(each.parentPath, each.name));
  return Promise.all(
    paths.sort().map(async (path) => {
      const url = relative(folder, path).replaceAll(sep, '/');
      const hash = createHash('sha256').update(await readFile(path));
      return { url, revision: IS_HASHED.test(url) ? null : hash.digest('hex').slice(0, 16) };
    }),
  );
}

async function bundleWith(files: readonly Entry[]): Promise<string> {
  const { output } = await build({
    input: ENTRY,
    write: false,
    platform: 'browser',
    logLevel: 'warn',
    transform: {
      target: 'es2022',
      define: { __FILES__: JSON.stringify(files), 'process.env.NODE_ENV': '"production"' },
    },
    output: { format: 'iife', minify: true, codeSplitting: false },
  });
  return output[0].code;
}
