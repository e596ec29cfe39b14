type Globals = typeof globalThis;

/**
 * A global of the platform; `undefined` where it is missing or forbidden: in a frame without an
 * origin of its own, or of another site, browsers throw when some are read.
 */
export function platformObject<Name extends keyof Globals>(name: Name): Globals[Name] | undefined {
  try {
    return globalThis[name] ?? undefined;
  } catch {
    return undefined;
  }
}

/** As {@link platformObject}, of the navigator. */
export function navigatorObject<Name extends 'locks' | 'storage'>(
  name: Name,
): Navigator[Name] | undefined {
  try {
    return platformObject('navigator')?.[name] ?? undefined;
  } catch {
    return undefined;
  }
}

/**
 * The server runtime of this process; `undefined` in a browser. Reads no global that only browsers
 * have: constructing must be safe everywhere.
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
