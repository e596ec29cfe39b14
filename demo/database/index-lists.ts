const KEY = 'indexes';

/** The indexes that the visitor switched on, by collection, shared by all tabs. */
function kept(): Record<string, string[]> {
  return JSON.parse(localStorage.getItem(KEY) ?? '{}');
}

export const indexesOf = (collection: string): readonly string[] => kept()[collection] ?? [];

export function keepIndexes(collection: string, indexes: readonly string[]): void {
  localStorage.setItem(KEY, JSON.stringify({ ...kept(), [collection]: indexes }));
}
