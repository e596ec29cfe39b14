import { orderIn } from '../value/collation.ts';
import { isFields } from '../value/value-type.ts';
import { compileFieldCriteria, compileItemFields } from './compile-criteria.ts';
import { singleTest } from './condition.ts';
import { holdsOperators } from './operators/operator.ts';

/**
 * Compiles criteria for the items of an array. An object matches as in `$elemMatch`: operators test
 * the item, field criteria its fields. A RegExp is a pattern. Any other value matches equal items;
 * null and undefined differ here, as an item is never missing.
 *
 * @throws {CriteriaError} as `compileCriteria`.
 */
export function compileItemCriteria(
  criteria: unknown,
  collation?: string,
): (item: unknown) => boolean {
  const collated = collation === undefined ? undefined : orderIn(collation);
  if (isFields(criteria) && !isForValues(criteria))
    return itemTest(compileItemFields(criteria, '', collated));
  if (criteria === null || criteria === undefined) return (item) => item === criteria;
  const test = singleTest(compileFieldCriteria(criteria, '', collated));
  return (item) => test(item, true);
}

/**
 * Whether criteria for an item are operators on the item itself; `$and`, `$or`, `$nor` hold field
 * criteria.
 */
export function isForValues(criteria: Readonly<Record<string, unknown>>): boolean {
  return holdsOperators(criteria) && !Object.keys(criteria).some((key) => logical.has(key));
}

const logical: ReadonlySet<string> = new Set(['$and', '$or', '$nor']);

/** Field criteria apply to objects and, with array indexes as names, to arrays; as in MongoDB. */
export function itemTest(test: (item: object) => boolean): (item: unknown) => boolean {
  return (item) => (isFields(item) || Array.isArray(item)) && test(item);
}
