/**
 * Short texts about a database in `localStorage`. Chromium evicts IndexedDB, files and caches of a site, and keeps these;
 * `destroy()` removes them. Where there is no page there are none: Node warns when its `localStorage` is accessed.
 */
function marks(): Storage | undefined {
  try {
    return typeof document === 'undefined' ? undefined : localStorage;
  } catch {
    // The user forbids it.
    return undefined;
  }
}

/** The key of a mark. */
export function markKey(database: string, ...names: readonly string[]): string {
  return `cairn-kept:${JSON.stringify([database, ...names])}`;
}

export function readMark(key: string): string | undefined {
  return marks()?.getItem(key) ?? undefined;
}

export function writeMark(key: string, value: string): void {
  try {
    marks()?.setItem(key, value);
  } catch {
    // It is full: an eviction goes unnoticed, no more.
  }
}

export function removeMark(key: string): void {
  marks()?.removeItem(key);
}

/** The names of all marks of a database. */
export function marksOf(database: string): string[][] {
  const prefix = `${markKey(database).slice(0, -1)},`;
  const keys = Object.keys(marks() ?? {}).filter((key) => key.startsWith(prefix));
  return keys.map((key) => (JSON.parse(key.slice('cairn-kept:'.length)) as string[]).slice(1));
}

export function clearMarks(database: string): void {
  for (const names of marksOf(database)) removeMark(markKey(database, ...names));
}

/** Set while the data of a database is evicted, until it is restored or backed up anew. */
export const evictedKey = (database: string): string => markKey(database, 'evicted');
