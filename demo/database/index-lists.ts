const KEY = 'indexes';

/** The indexes that the visitor has switched on, by collection; every tab opens with the same. */
function kept(): Record<string, string[]> {
  return JSON.parse(localStorage.getItem(KEY) ?? '{}');
}

export const indexesOf = (collection: string): readonly string[] => kept()[collection] ?? [];

export function keepIndexes(collection: string, indexes: readonly string[]): void {
  localStorage.setItem(KEY, JSON.stringify({ ...kept(), [collection]: indexes }));
}
