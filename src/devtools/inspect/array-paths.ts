import { isPlainObject } from '../../codec/kinds.ts';

/** The dotted paths that hold an array in one of the documents, and the paths below them. */
export function arrayPathsIn(documents: readonly object[]): ReadonlySet<string> {
  const paths = new Set<string>();
  const visit = (value: unknown, path: string, isInside: boolean): void => {
    const isArray = Array.isArray(value);
    if (isArray || isInside) paths.add(path);
    if (isArray) for (const item of value) visitFields(item, path, true);
    else visitFields(value, path, isInside);
  };
  const visitFields = (value: unknown, path: string, isInside: boolean): void => {
    if (!isPlainObject(value)) return;
    for (const [key, field] of Object.entries(value))
      visit(field, path ? `${path}.${key}` : key, isInside);
  };
  for (const document of documents) visitFields(document, '', false);
  return paths;
}
