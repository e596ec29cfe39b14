import { checkPath } from '../path/check-path.ts';
import { readerOf } from '../path/own-property.ts';
import { valueReader } from '../path/value-reader.ts';
import { unexpectedValue } from '../query-errors.ts';
import { compareScalars } from '../value/compare-scalars.ts';
import { isFields } from '../value/value-type.ts';
import { firstCombination, firstValue, type SortPath } from './sort-key.ts';

/** The value that a document is sorted by; a list of values where several fields sort. */
export type SortKey = unknown;

export interface SortField {
  readonly path: string;
  readonly direction: 1 | -1;
}

/** A compiled sort. Documents with equal keys are in the order of their ranks, which the caller compares. */
export interface SortOrder {
  readonly fields: readonly SortField[];
  /** First segments of the paths. */
  readonly roots: ReadonlySet<string>;
  /** Reads the key of a document. Values are shared with the document, not copied. */
  readonly keyOf: (document: object) => SortKey;
  readonly compare: (a: SortKey, b: SortKey) => number;
}

/**
 * Compiles a sort such as `{ age: -1, 'name.last': 1 }`; the first field counts most. Values of all types have one
 * order, as in MongoDB: a missing field sorts like null, an array by its least item ascending and by its greatest
 * descending, an empty array before null. Fields inside one array are compared by one item together.
 *
 * @throws {CriteriaError} `sort_invalid`, naming the place, such as `sort.age`.
 */
export function compileSort(sort: unknown): SortOrder {
  const entries = isFields(sort) ? Object.entries(sort) : [];
  if (entries.length === 0) {
    throw unexpectedValue('sort_invalid', 'sort', 'an object such as { age: 1, name: -1 }', sort);
  }
  const fields = entries.map(([path, direction]): SortField => {
    const place = `sort.${path}`;
    checkPath(path, 'sort_invalid', place);
    if (direction !== 1 && direction !== -1) {
      throw unexpectedValue('sort_invalid', place, '1 or -1 (paths are dotted)', direction);
    }
    return { path, direction };
  });
  const roots = new Set(fields.map(({ path }) => path.split('.')[0] as string));
  const [only] = fields as [SortField];
  return fields.length === 1
    ? { fields, roots, keyOf: valueKeyOf(only), compare: comparison(only) }
    : { fields, roots, keyOf: tupleKeyOf(fields), compare: tupleComparison(fields) };
}

function comparison({ direction }: SortField): SortOrder['compare'] {
  return direction === 1 ? compareScalars : (a, b) => compareScalars(b, a);
}

function tupleComparison(fields: readonly SortField[]): SortOrder['compare'] {
  const comparisons = fields.map(comparison);
  return (a, b) => {
    for (let field = 0; field < comparisons.length; field++) {
      const compare = comparisons[field] as SortOrder['compare'];
      const order = compare((a as unknown[])[field], (b as unknown[])[field]);
      if (order !== 0) return order;
    }
    return 0;
  };
}

function valueKeyOf(field: SortField): SortOrder['keyOf'] {
  const { path } = field;
  const sortPath = sortPathOf(field);
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

function tupleKeyOf(fields: readonly SortField[]): SortOrder['keyOf'] {
  const paths = fields.map(sortPathOf);
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
    if (arrays === 1) key[withArray] = firstValue(document, paths[withArray] as SortPath);
    return key;
  };
}

function sortPathOf({ path, direction }: SortField): SortPath {
  return { segments: path.split('.'), direction };
}
