import { platformObject } from './platform-object.ts';

let held: Storage | undefined;

/**
 * `localStorage`, which a user may forbid, other scripts fill, and Android's web views lack: then
 * nothing is kept in it. None where there is no page: Node warns when its `localStorage` is
 * accessed.
 */
function store(): Storage | undefined {
  return platformObject('document') && (platformObject('localStorage') ?? held);
}

/**
 * Keeps a reference to `localStorage`: WebKit returns none to a page that has called
 * `window.close()`, but still writes through an older reference.
 */
export function holdStore(): void {
  held ??= store();
}

export function readKept(key: string): string | undefined {
  try {
    return store()?.getItem(key) ?? undefined;
  } catch {
    return undefined;
  }
}

/** @returns whether it is stored. */
export function writeKept(key: string, text: string): boolean {
  try {
    const target = held ?? store();
    target?.setItem(key, text);
    return target !== undefined;
  } catch {
    return false; // full, or forbidden
  }
}

export function removeKept(key: string): void {
  try {
    store()?.removeItem(key);
  } catch {
    // What cannot be removed cannot be read either.
  }
}

/** The keys of all that is kept, also of other scripts. */
export function keptKeys(): string[] {
  try {
    return Object.keys(store() ?? {});
  } catch {
    return [];
  }
}

/**
 * The key of a mark: a short text about a database in `localStorage`. Chromium evicts IndexedDB,
 * files and caches of a site, and keeps these; `destroy()` removes them. Where there is no room for
 * one, an eviction goes unnoticed, no more.
 */
export function markKey(database: string, ...names: readonly string[]): string {
  return `cairn-kept:${JSON.stringify([database, ...names])}`;
}

export function marksOf(database: string): string[][] {
  const prefix = `${markKey(database).slice(0, -1)},`;
  const keys = keptKeys().filter((key) => key.startsWith(prefix));
  return keys.map((key) => (JSON.parse(key.slice('cairn-kept:'.length)) as string[]).slice(1));
}

export function clearMarks(database: string): void {
  for (const names of marksOf(database)) removeKept(markKey(database, ...names));
}

/** Set while the data of a database is evicted, until it is restored or backed up anew. */
export const evictedKey = (database: string): string => markKey(database, 'evicted');
