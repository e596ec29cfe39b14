import type { OpfsModule } from '../../storage/opfs/opfs-module.ts';

/**
 * Loads the code of `storage: 'opfs'` from its text. A worker is one script, as some bundlers allow no `import()` of a file in it;
 * of a Blob they do not know.
 */
export async function loadOpfs(script: string): Promise<OpfsModule> {
  const url = URL.createObjectURL(new Blob([script], { type: 'text/javascript' }));
  try {
    return await import(/* @vite-ignore */ /* webpackIgnore: true */ url);
  } finally {
    URL.revokeObjectURL(url);
  }
}
