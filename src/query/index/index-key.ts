import { compilePath } from '../criteria/compile-path.ts';
import { each } from '../criteria/condition.ts';
import { valueReader } from '../path/value-reader.ts';
import { compareScalars } from '../value/compare-scalars.ts';
import { isDate, isRegExp } from '../value/value-type.ts';
import type { IndexDefinition } from './index-definition.ts';

/** What can be ordered in an index. `undefined` and missing count as null. */
export type Scalar = string | number | bigint | boolean | null | Date;

/**
 * What an index keeps of one document: a scalar for an index of one field, a tuple for one of several, and
 * for a multi index a scalar or the list of its distinct items. `undefined` says that the document is odd:
 * it holds an array on the path of an index without `multi`, or an object, a RegExp or the like, and has to
 * be looked at in every query. Survives a structured clone.
 */
export type IndexKey = Scalar | readonly Scalar[] | undefined;

/** Compiles what extracts the key of a document. */
export function keyReader({ fields, multi }: IndexDefinition): (document: object) => IndexKey {
  const [first] = fields as [string];
  if (multi) return itemsReader(first);
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
 * The keys are the candidates that criteria would be offered. Objects, and arrays as a whole, are left out:
 * no criteria that an index answers can match them. A RegExp can be matched by a pattern that equals it.
 */
function itemsReader(path: string): (document: object) => IndexKey {
  let items: Scalar[] = [];
  let odd = false;
  const visit = compilePath(
    path.split('.'),
    each((value) => {
      const item = scalarOf(value);
      if (item !== undefined) items.push(item);
      else odd ||= isRegExp(value);
      return false;
    }),
    'document',
  );
  return (document) => {
    items = [];
    odd = false;
    visit(document);
    if (odd) return undefined;
    if (items.length === 1) return items[0];
    return items
      .sort(compareScalars)
      .filter((item, index) => index === 0 || compareScalars(item, items[index - 1]) !== 0);
  };
}
