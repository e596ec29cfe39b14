import { keptKeys, removeKept } from '../platform/page-store.ts';

/**
 * The key of a mark: a short text about a database in `localStorage`. Chromium evicts IndexedDB, files and caches of a site, and
 * keeps these; `destroy()` removes them. Where there is no room for one, an eviction goes unnoticed, no more.
 */
export function markKey(database: string, ...names: readonly string[]): string {
  return `cairn-kept:${JSON.stringify([database, ...names])}`;
}

/** The names of all marks of a database. */
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
