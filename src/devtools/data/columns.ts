const MANAGED_FIRST = ['_archived'];
const MOST = 12;

/** The fields to show as columns: the most frequent, in the order of the documents; `_archived` where one is archived. */
export function columnsOf(documents: readonly object[]): string[] {
  const frequencies = new Map<string, number>();
  for (const document of documents)
    for (const name of Object.keys(document))
      if (!name.startsWith('_')) frequencies.set(name, (frequencies.get(name) ?? 0) + 1);
  const names = [...frequencies.keys()];
  const frequent = [...frequencies]
    .sort(([, a], [, b]) => b - a)
    .slice(0, MOST)
    .map(([name]) => name);
  const managed = MANAGED_FIRST.filter((name) =>
    documents.some((document) => (document as Record<string, unknown>)[name] === true),
  );
  return [...managed, ...names.filter((name) => frequent.includes(name))];
}
