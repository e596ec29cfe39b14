import { checkPath, isIndex, ownsProperty, readerOf, valueReader } from '../path/own-property.ts';
import { unexpectedValue } from '../query-errors.ts';
import { orderIn } from '../value/collation.ts';
import type { Compare } from '../value/compare-values.ts';
import { isFields } from '../value/value-type.ts';

/** The value that a document is sorted by; a list of values where several fields sort. */
export type SortKey = unknown;

export interface SortField {
  readonly path: string;
  readonly direction: 1 | -1;
}

/**
 * A compiled sort. Documents with equal keys are in the order of their ranks, which the caller
 * compares.
 */
export interface SortOrder {
  readonly fields: readonly SortField[];
  /** First segments of the paths. */
  readonly roots: ReadonlySet<string>;
  /** Reads the key of a document. Values are shared with the document, not copied. */
  readonly keyOf: (document: object) => SortKey;
  readonly compare: (a: SortKey, b: SortKey) => number;
  readonly collation: string | undefined;
}

/**
 * Compiles a sort such as `{ age: -1, 'name.last': 1 }`; the first field counts most. Values of all
 * types have one order, as in MongoDB: a missing field sorts like null, an array by its least item
 * ascending and by its greatest descending, an empty array before null. Fields inside one array are
 * compared by one item together.
 *
 * @param collation The order of strings, as `parseCollation` writes it.
 * @param at The place of the sort.
 * @throws {CriteriaError} `sort_invalid`, naming the place, such as `sort.age`.
 */
export function compileSort(sort: unknown, collation?: string, at = 'sort'): SortOrder {
  const entries = isFields(sort) ? Object.entries(sort) : [];
  if (entries.length === 0) {
    throw unexpectedValue('sort_invalid', at, 'an object such as { age: 1, name: -1 }', sort);
  }
  const fields = entries.map(([path, direction]): SortField => {
    const place = `${at}.${path}`;
    checkPath(path, 'sort_invalid', place);
    if (direction !== 1 && direction !== -1) {
      throw unexpectedValue('sort_invalid', place, '1 or -1 (paths are dotted)', direction);
    }
    return { path, direction };
  });
  const roots = new Set(fields.map(({ path }) => path.split('.')[0] as string));
  const compare = orderIn(collation);
  const [only] = fields as [SortField];
  const paths = fields.map((field) => sortPathOf(field, compare));
  const [path] = paths as [CompiledSortPath];
  return fields.length === 1
    ? { fields, roots, collation, keyOf: valueKeyOf(only, path), compare: comparison(path) }
    : {
        fields,
        roots,
        collation,
        keyOf: tupleKeyOf(fields, paths),
        compare: tupleComparison(paths),
      };
}

function comparison({ direction, compare }: CompiledSortPath): SortOrder['compare'] {
  return direction === 1 ? compare : (a, b) => compare(b, a);
}

function tupleComparison(paths: readonly CompiledSortPath[]): SortOrder['compare'] {
  const comparisons = paths.map(comparison);
  return (a, b) => {
    for (let field = 0; field < comparisons.length; field++) {
      const compare = comparisons[field] as SortOrder['compare'];
      const order = compare((a as unknown[])[field], (b as unknown[])[field]);
      if (order !== 0) return order;
    }
    return 0;
  };
}

function valueKeyOf({ path }: SortField, sortPath: CompiledSortPath): SortOrder['keyOf'] {
  const read = valueReader(path);
  const direct = sortPath.segments.length === 1 && !readerOf(path, true);
  return (document) => {
    // Saves a call for each document of a scan.
    const value = direct ? (document as Record<string, unknown>)[path] : read(document);
    if (value === undefined) return null;
    if (typeof value !== 'object' || !Array.isArray(value)) return value;
    return firstValue(document, sortPath);
  };
}

function tupleKeyOf(
  fields: readonly SortField[],
  paths: readonly CompiledSortPath[],
): SortOrder['keyOf'] {
  const readers = fields.map(({ path }) => valueReader(path));
  return (document) => {
    const key: unknown[] = new Array(readers.length);
    let arrays = 0;
    let withArray = 0;
    for (let field = 0; field < readers.length; field++) {
      const value = (readers[field] as (typeof readers)[number])(document);
      key[field] = value === undefined ? null : value;
      if (typeof value === 'object' && Array.isArray(value)) {
        arrays++;
        withArray = field;
      }
    }
    if (arrays > 1) return firstCombination(document, paths);
    if (arrays === 1) key[withArray] = firstValue(document, paths[withArray] as CompiledSortPath);
    return key;
  };
}

function sortPathOf({ path, direction }: SortField, compare: Compare): CompiledSortPath {
  return { segments: path.split('.'), direction, compare };
}

interface CompiledSortPath {
  readonly segments: readonly string[];
  readonly direction: 1 | -1;
  readonly compare: Compare;
}

/**
 * The value by which one field sorts a document that has an array on its path: of the items the one
 * that sorts first. An empty array at the end of the path gives `undefined`, which sorts before
 * null.
 */
function firstValue(value: unknown, path: CompiledSortPath, level = 0): unknown {
  const values = valuesAt(value, path.segments, level, []);
  return values.reduce((first, other) =>
    path.compare(other, first) * path.direction < 0 ? other : first,
  );
}

/**
 * The values that a path offers to sort by: one level of items of an array, null where the path
 * leads to nothing. A position in the path selects one item; at its end that item is one value,
 * even an array.
 */
function valuesAt(
  value: unknown,
  segments: readonly string[],
  level: number,
  values: unknown[],
): unknown[] {
  const key = segments[level];
  if (key === undefined) {
    if (!Array.isArray(value)) values.push(value ?? null);
    else if (value.length === 0) values.push(undefined);
    else for (const item of value) values.push(item ?? null);
  } else if (hasPosition(value, key)) {
    const item = value[Number(key)];
    if (level === segments.length - 1) values.push(item ?? null);
    else valuesAt(item, segments, level + 1, values);
  } else if (!Array.isArray(value)) {
    if (hasField(value, key)) valuesAt(value[key], segments, level + 1, values);
    else values.push(null);
  } else if (value.length === 0) values.push(null);
  else {
    for (const item of value) {
      if (isFields(item)) valuesAt(item, segments, level, values);
      else values.push(null);
    }
  }
  return values;
}

/** A path that has been followed to a value, from which `segments[level]` leads on. */
interface Cursor {
  readonly path: CompiledSortPath;
  /** Index of the field in the sort, and of its value in the key. */
  readonly field: number;
  readonly value: unknown;
  readonly level: number;
}

/**
 * The key of a document that has arrays on the paths of several fields. Paths through one array
 * take their values from one item together, as in a compound multikey index of MongoDB; of these
 * combinations the first counts. Paths through different arrays are independent, where MongoDB
 * refuses to sort.
 */
function firstCombination(document: object, paths: readonly CompiledSortPath[]): unknown[] {
  const key: unknown[] = [];
  resolve(
    paths.map((path, field) => ({ path, field, value: document, level: 0 })),
    key,
  );
  return key;
}

/** Fills in the values of some fields. */
function resolve(cursors: readonly Cursor[], key: unknown[]): void {
  const byArray = new Map<readonly unknown[], Cursor[]>();
  for (const start of cursors) {
    const cursor = followToArray(start);
    const { path, field, value, level } = cursor;
    if (Array.isArray(value)) {
      const through = byArray.get(value);
      if (through) through.push(cursor);
      else byArray.set(value, [cursor]);
    } else key[field] = level === path.segments.length ? (value ?? null) : null;
  }
  for (const [array, through] of byArray) {
    const [only] = through as [Cursor];
    if (through.length === 1) key[only.field] = firstValue(array, only.path, only.level);
    else resolveThrough(array, through, key);
  }
}

/** Follows a path through objects, as far as it leads without an array. */
function followToArray(cursor: Cursor): Cursor {
  const { segments } = cursor.path;
  let { value, level } = cursor;
  for (; level < segments.length; level++) {
    const key = segments[level] as string;
    if (Array.isArray(value) || !hasField(value, key)) break;
    value = value[key];
  }
  return { ...cursor, value, level };
}

/**
 * Fills in the values of fields whose paths lead through one array: those of the item that sorts
 * first.
 */
function resolveThrough(
  array: readonly unknown[],
  cursors: readonly Cursor[],
  key: unknown[],
): void {
  const needsItems = cursors.some(
    ({ path, level }) => !hasPosition(array, path.segments[level] ?? ''),
  );
  const items = needsItems && array.length > 0 ? array : [undefined];
  const combinations = items.map((item) => combinationOf(array, item, cursors));
  const first = combinations.reduce((best, other) =>
    compareFields(other, best, cursors) < 0 ? other : best,
  );
  for (const { field } of cursors) key[field] = first[field];
}

function combinationOf(
  array: readonly unknown[],
  item: unknown,
  cursors: readonly Cursor[],
): unknown[] {
  const values: unknown[] = [];
  const open: Cursor[] = [];
  for (const cursor of cursors) {
    const { path, field, level } = cursor;
    const key = path.segments[level];
    if (key === undefined) values[field] = array.length === 0 ? undefined : (item ?? null);
    else if (hasPosition(array, key)) {
      const value = array[Number(key)];
      if (level === path.segments.length - 1) values[field] = value ?? null;
      else open.push({ ...cursor, value, level: level + 1 });
    } else if (isFields(item)) open.push({ ...cursor, value: item });
    else values[field] = null;
  }
  resolve(open, values);
  return values;
}

function compareFields(
  a: readonly unknown[],
  b: readonly unknown[],
  cursors: readonly Cursor[],
): number {
  for (const { field, path } of cursors) {
    const order = path.compare(a[field], b[field]) * path.direction;
    if (order !== 0) return order;
  }
  return 0;
}

function hasPosition(value: unknown, key: string): value is readonly unknown[] {
  return Array.isArray(value) && isIndex(key) && Object.hasOwn(value, key);
}

function hasField(value: unknown, key: string): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && ownsProperty(value, key);
}
