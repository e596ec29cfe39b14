/**
 * The server runtime of this process; `undefined` in a browser. Reads no global that only browsers have: constructing
 * must be safe everywhere.
 */
export function serverRuntime(): 'node' | 'bun' | 'deno' | undefined {
  if ('document' in globalThis) return undefined;
  const { process } = globalThis as { process?: { versions?: Record<string, string> } };
  const { node, bun, deno } = process?.versions ?? {};
  // All three report a version of Node.
  if (bun !== undefined) return 'bun';
  if (deno !== undefined) return 'deno';
  return node === undefined ? undefined : 'node';
}
