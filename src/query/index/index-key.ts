import { compilePath } from '../criteria/compile-path.ts';
import { each } from '../criteria/condition.ts';
import { valueReader } from '../path/own-property.ts';
import { orderIn } from '../value/collation.ts';
import type { Compare } from '../value/compare-values.ts';
import { isDate, isRegExp } from '../value/value-type.ts';
import type { IndexDefinition } from './index-definition.ts';

/** A value that an index can order. `undefined` and missing count as null. */
export type Scalar = string | number | bigint | boolean | null | Date;

/**
 * The key of one document in an index: a scalar for an index of one field, a tuple for one of
 * several, and for a multi index a scalar or the list of its distinct items. `undefined` says that
 * the document is unkeyed: it holds an array on the path of an index without `multi`, or an object,
 * a RegExp or the like, and every query has to test it. A list that ends in `undefined` has items
 * and is unkeyed as well. Survives a structured clone.
 */
export type IndexKey = Scalar | readonly (Scalar | undefined)[] | undefined;

/**
 * Names what an index reads of a document: indexes of the same name have the same keys, regardless
 * of `unique`.
 */
export function keyName(definition: IndexDefinition): string {
  const { multi, fields, collation, where, special } = definition;
  const more = collation || where || special ? [[collation, where, special]] : [];
  return JSON.stringify([multi, ...fields, ...more]);
}

/** Whether one index answers every query of the other, regardless of `unique`. */
export function isSameKey(a: IndexDefinition, b: IndexDefinition): boolean {
  return keyName(a) === keyName(b);
}

/** The keys of a list of documents, in its order, by the `keyName` of their index. */
export type KeyColumns = Readonly<Record<string, readonly IndexKey[]>>;

/** The key of a document that an index with `where` leaves out. */
export const LEFT_OUT: IndexKey = [];

/** Whether the list has no keys: nothing lists the document. */
export function isLeftOut(key: IndexKey): boolean {
  return Array.isArray(key) && key.length === 0;
}

/** Whether every query has to test the document. */
export function isUnkeyed(key: IndexKey): boolean {
  return key === undefined || (Array.isArray(key) && key.length > 0 && key.at(-1) === undefined);
}

export function keyReader({
  fields,
  multi,
  collation,
}: IndexDefinition): (document: object) => IndexKey {
  const [first] = fields as [string];
  if (multi) return itemsReader(first, orderIn(collation));
  const readers = fields.map(valueReader);
  const [only] = readers as [(typeof readers)[number]];
  if (readers.length === 1) return (document) => scalarOf(only(document));
  return (document) => {
    const key: Scalar[] = [];
    for (const read of readers) {
      const value = scalarOf(read(document));
      if (value === undefined) return undefined;
      key.push(value);
    }
    return key;
  };
}

/** A value as a key, `undefined` when it cannot be one. */
export function scalarOf(value: unknown): Scalar | undefined {
  switch (typeof value) {
    case 'undefined':
      return null;
    case 'string':
    case 'number':
    case 'boolean':
    case 'bigint':
      return value;
    default:
      return value === null || isDate(value) ? value : undefined;
  }
}

/**
 * The items are the candidates of criteria. Objects, and arrays as a whole, are left out: no
 * criteria that an index answers match them. A RegExp has no key, but a pattern that equals it
 * matches it, so it makes the document unkeyed.
 */
function itemsReader(path: string, compare: Compare): (document: object) => IndexKey {
  let items: (Scalar | undefined)[] = [];
  let hasRegExp = false;
  const visit = compilePath(
    path.split('.'),
    each((value) => {
      const item = scalarOf(value);
      if (item !== undefined) items.push(item);
      else hasRegExp ||= isRegExp(value);
      return false;
    }),
    'document',
  );
  return (document) => {
    items = [];
    hasRegExp = false;
    visit(document);
    if (items.length === 0 && hasRegExp) return undefined;
    if (items.length === 1 && !hasRegExp) return items[0];
    const distinct = items
      .sort(compare)
      .filter((item, index) => index === 0 || compare(item, items[index - 1]) !== 0);
    if (hasRegExp) distinct.push(undefined);
    return distinct;
  };
}
