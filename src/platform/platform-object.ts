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
