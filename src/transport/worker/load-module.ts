/**
 * Loads a module from its text. A worker is one script, as some bundlers allow no `import()` of a file in it; of a Blob they do
 * not know.
 */
export async function loadModule<T>(script: string): Promise<T> {
  const url = URL.createObjectURL(new Blob([script], { type: 'text/javascript' }));
  try {
    return await import(/* @vite-ignore */ /* webpackIgnore: true */ url);
  } finally {
    URL.revokeObjectURL(url);
  }
}
