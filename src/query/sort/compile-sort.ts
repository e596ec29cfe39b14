import { checkPath } from '../path/check-path.ts';
import { isIndex, ownsProperty, readerOf } from '../path/own-property.ts';
import { valueReader } from '../path/value-reader.ts';
import { unexpectedValue } from '../query-errors.ts';
import { compareScalars } from '../value/compare-scalars.ts';
import { isFields } from '../value/value-type.ts';

/** What a document is sorted by: the value for an order by one field, else a list of them. */
export type SortKey = unknown;

export interface SortField {
  readonly path: string;
  readonly direction: 1 | -1;
}

/** An order of documents, compiled once. Equal keys are the caller's to tell apart, by rank of insertion. */
export interface SortOrder {
  readonly fields: readonly SortField[];
  /** First segments of the paths. */
  readonly roots: ReadonlySet<string>;
  /** Plain data; what the document holds is shared, not copied. */
  readonly keyOf: (document: object) => SortKey;
  readonly compare: (a: SortKey, b: SortKey) => number;
}

/**
 * Compiles `{ age: -1, 'name.last': 1 }`; the first field counts most. Values of all types have one order, as
 * in MongoDB: missing sorts like null, an array by its least item ascending and by its greatest descending,
 * an empty array before null.
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
  const parts = fields.map((field) => ({ keyOf: keyReader(field), compare: comparison(field) }));
  const [only] = parts as [(typeof parts)[number]];
  return {
    fields,
    roots: new Set(fields.map(({ path }) => path.split('.')[0] as string)),
    ...(parts.length === 1
      ? only
      : {
          keyOf: (document: object) => parts.map(({ keyOf }) => keyOf(document)),
          compare: (a: SortKey, b: SortKey) => {
            for (let index = 0; index < parts.length; index++) {
              const { compare } = parts[index] as typeof only;
              const order = compare((a as unknown[])[index], (b as unknown[])[index]);
              if (order !== 0) return order;
            }
            return 0;
          },
        }),
  };
}

function comparison({ direction }: SortField): SortOrder['compare'] {
  return direction === 1 ? compareScalars : (a, b) => compareScalars(b, a);
}

function keyReader({ path, direction }: SortField): (document: object) => unknown {
  const read = valueReader(path);
  const segments = path.split('.');
  const direct = segments.length === 1 && !readerOf(path, true);
  return (document) => {
    // A call less for each document of a scan.
    const value = direct ? (document as Record<string, unknown>)[path] : read(document);
    if (value === undefined) return null;
    if (typeof value !== 'object' || !Array.isArray(value)) return value;
    return extreme(offered(document, segments, 0, []), direction);
  };
}

function extreme(values: readonly unknown[], direction: 1 | -1): unknown {
  return values.reduce((best, value) =>
    compareScalars(value, best) * direction < 0 ? value : best,
  );
}

/**
 * What a path through arrays offers to sort by: one level of items, `undefined` for an empty array at the
 * end, null wherever the path leads to nothing. A position in the path means that item alone.
 */
function offered(
  value: unknown,
  segments: readonly string[],
  level: number,
  values: unknown[],
): unknown[] {
  const key = segments[level];
  if (key !== undefined && typeof value === 'object' && value !== null && isOnPath(value, key)) {
    return offered((value as Record<string, unknown>)[key], segments, level + 1, values);
  }
  if (!Array.isArray(value)) values.push(key === undefined ? (value ?? null) : null);
  else if (value.length === 0) values.push(key === undefined ? undefined : null);
  else {
    for (const item of value) {
      if (key !== undefined && isFields(item)) offered(item, segments, level, values);
      else values.push(key === undefined ? (item ?? null) : null);
    }
  }
  return values;
}

function isOnPath(container: object, key: string): boolean {
  return (!Array.isArray(container) || isIndex(key)) && ownsProperty(container, key);
}
