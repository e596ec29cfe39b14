import { checkPath } from '../path/check-path.ts';
import { unexpectedValue } from '../query-errors.ts';
import { isFields } from '../value/value-type.ts';

/** The fields to keep: `undefined` keeps a field whole, a map the fields below it. */
type Kept = Map<string, Kept | undefined>;

/**
 * Compiles a list of dotted paths to a projection: it keeps these fields and `_id`, in the document's own order. As in
 * MongoDB's inclusion, a path reaches into objects and objects in arrays; other values on the way are left out. Values
 * kept whole are shared, not copied.
 *
 * @throws {CriteriaError} `select_invalid`, naming the place, such as `select[1]`.
 */
export function compileSelect(paths: unknown): (document: object) => object {
  if (!Array.isArray(paths))
    throw unexpectedValue('select_invalid', 'select', 'a list of paths', paths);
  const kept: Kept = new Map([['_id', undefined]]);
  for (const [index, path] of paths.entries()) {
    keep(kept, checkPath(path, 'select_invalid', `select[${index}]`));
  }
  return (document) => keepFields(document as Record<string, unknown>, kept);
}

function keep(kept: Kept, [key, ...rest]: readonly string[]): void {
  if (key === undefined) return;
  const below = kept.get(key);
  if (rest.length === 0) kept.set(key, undefined);
  else if (below) keep(below, rest);
  else if (!kept.has(key)) {
    const fields: Kept = new Map();
    kept.set(key, fields);
    keep(fields, rest);
  }
}

function keepFields(fields: Record<string, unknown>, kept: Kept): object {
  const result: Record<string, unknown> = {};
  for (const key of Object.keys(fields)) {
    if (!kept.has(key)) continue;
    const below = kept.get(key);
    const value = fields[key];
    if (!below) result[key] = value;
    else if (Array.isArray(value)) result[key] = keepInItems(value, below);
    else if (isFields(value)) result[key] = keepFields(value, below);
  }
  return result;
}

function keepInItems(items: readonly unknown[], kept: Kept): unknown[] {
  return items.flatMap((item) => {
    if (Array.isArray(item)) return [keepInItems(item, kept)];
    return isFields(item) ? [keepFields(item, kept)] : [];
  });
}
