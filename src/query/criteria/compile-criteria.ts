import { criteriaInvalid, operandInvalid, operatorUnknown, placeBelow } from '../query-errors.ts';
import { orderIn } from '../value/collation.ts';
import type { Compare } from '../value/compare-values.ts';
import { isFields, isRegExp } from '../value/value-type.ts';
import { compilePath, type DocumentTest, type Root } from './compile-path.ts';
import {
  all,
  asksPresence,
  type Condition,
  costOf,
  EXPENSIVE,
  singleTest,
  type ValueTest,
} from './condition.ts';
import { equality } from './operators/comparison.ts';
import { fieldOperators, pattern } from './operators/field-operators.ts';
import { holdsOperators } from './operators/operator.ts';

/** A part of criteria; a document matches if it matches all parts. */
export interface CriteriaPart {
  readonly test: DocumentTest;
  /** The path, if the part reads only one and treats a missing field as `undefined`. */
  readonly path?: string;
  /** The same test on the value at the path, for documents without an array on the path. */
  readonly value?: ValueTest;
  /** The value that passes, if there is only one. */
  readonly literal?: string | boolean | undefined;
}

export interface CompiledCriteria {
  /** The parts, the cheapest first. */
  readonly parts: readonly CriteriaPart[];
  /** Whether a document matches. */
  readonly test: (document: object) => boolean;
  /** First segments of the paths in the criteria: `address`, `_archived` … */
  readonly roots: ReadonlySet<string>;
}

/**
 * Compiles criteria, with the semantics of MongoDB's server, to a composition of closures.
 *
 * Paths never reach a prototype.
 *
 * A pattern (`/…/`, `$regex`) can take exponential time, and its thread cannot stop it: never build
 * one from untrusted input.
 *
 * @param criteria A copy of the caller's, of plain data alone, at most 100 levels deep.
 * @param collation The order of strings, as `parseCollation` writes it.
 * @param expressions Compiles `$expr`, where it may stand.
 * @param place Where they stand.
 * @throws {CriteriaError} naming the place, such as `address.city.$gt` or `$or[1].age`. The test
 *   throws `subject_too_long` when a pattern meets a string so long that JavaScript gives up, some
 *   millions of characters.
 *
 * @example
 * ```ts
 * const { test } = compileCriteria({ 'address.city': 'Oslo', age: { $gte: 20, $lt: 40 } });
 * test({ age: 36, address: { city: 'Oslo' } }); // true
 * ```
 */
export function compileCriteria(
  criteria: unknown,
  collation?: string,
  expressions?: CompileExpression,
  place = '',
): CompiledCriteria {
  if (!isFields(criteria)) throw criteriaInvalid(place, 'must be an object of field criteria.');
  const roots = new Set<string>();
  const { test, parts = [] } = compileObject(criteria, place, {
    root: 'document',
    roots,
    collated: collation === undefined ? undefined : orderIn(collation),
    expressions,
  });
  return { test, parts, roots };
}

/** Compiles the expression of `$expr`. */
export type CompileExpression = (
  expression: unknown,
  place: string,
) => { readonly test: DocumentTest; readonly roots: ReadonlySet<string> };

interface Scope {
  readonly root: Root;
  readonly expressions?: CompileExpression | undefined;
  /** Collects the first segment of every path. */
  readonly roots: Set<string>;
  readonly collated?: Compare | undefined;
}

/** A compiled part with its cost: cheaper parts run first. */
interface Part extends CriteriaPart {
  readonly cost: number;
  /** Its own parts, if it is a conjunction. */
  readonly parts?: readonly Part[];
}

function compileObject(criteria: Record<string, unknown>, place: string, scope: Scope): Part {
  return every(
    Object.entries(criteria).map(([key, value]) => {
      const at = placeBelow(place, key);
      return key.startsWith('$')
        ? compileLogic(key, value, at, scope)
        : compileField(key, value, at, scope);
    }),
  );
}

function compileField(path: string, value: unknown, place: string, scope: Scope): Part {
  const segments = path.split('.');
  if (segments.includes('__proto__')) {
    throw criteriaInvalid(place, 'use the segment "__proto__", which no document has.');
  }
  scope.roots.add(segments[0] as string);
  const condition = compileFieldCriteria(value, place, scope.collated);
  const test = compilePath(segments, condition, scope.root);
  const cost = segments.length + costOf(condition);
  return asksPresence(condition)
    ? { test, cost }
    : { test, cost, path, value: singleTest(condition), literal: literalOf(condition) };
}

function literalOf(condition: Condition): string | boolean | undefined {
  return condition.kind === 'each' ? condition.literal : undefined;
}

const logic: ReadonlyMap<string, (parts: readonly Part[]) => Part> = new Map([
  ['$and', every],
  ['$or', some],
  ['$nor', none],
]);

function compileLogic(name: string, operand: unknown, place: string, scope: Scope): Part {
  if (name === '$comment') return every([]);
  if (name === '$expr' && scope.expressions) {
    const { test, roots } = scope.expressions(operand, place);
    for (const root of roots) scope.roots.add(root);
    return { test, cost: EXPENSIVE };
  }
  const combine = logic.get(name);
  if (!combine) {
    const elsewhere = fieldOperators.has(name)
      ? 'it belongs inside the criteria of a field.'
      : name === '$expr'
        ? 'it belongs at the top of the criteria of a query, or within its $and, $or and $nor.'
        : undefined;
    throw operatorUnknown(place, name, [...logic.keys(), '$expr', '$comment'], elsewhere);
  }
  if (!Array.isArray(operand) || operand.length === 0) {
    throw operandInvalid(place, 'an array of at least one criteria object', operand);
  }
  return combine(
    operand.map((criteria: unknown, index) => {
      const at = placeBelow(place, index);
      if (!isFields(criteria)) throw operandInvalid(at, 'a criteria object', criteria);
      return compileObject(criteria, at, scope);
    }),
  );
}

export function compileFieldCriteria(
  value: unknown,
  place: string,
  collated: Scope['collated'],
): Condition {
  if (isRegExp(value)) return pattern(value, place);
  return isFields(value) && holdsOperators(value)
    ? compileOperators(value, place, collated)
    : equality(value, collated);
}

export function compileOperators(
  operators: Record<string, unknown>,
  place: string,
  collated: Scope['collated'],
): Condition {
  const context = {
    siblings: operators,
    collated,
    compileOperators,
    compileFields: compileItemFields,
  };
  const conditions = Object.entries(operators).map(([name, operand]) => {
    const at = placeBelow(place, name);
    if (!name.startsWith('$')) {
      throw criteriaInvalid(
        at,
        'stand among operators; give operators alone, or use $and or a dotted path.',
      );
    }
    const operator = fieldOperators.get(name);
    if (!operator) {
      const elsewhere = logic.has(name) ? 'it belongs at the top, around fields.' : undefined;
      throw operatorUnknown(at, name, [...fieldOperators.keys()], elsewhere);
    }
    return operator(operand, { ...context, place: at });
  });
  return all(
    conditions.filter((condition) => condition.kind !== 'all' || condition.conditions.length > 0),
  );
}

export function compileItemFields(
  criteria: Record<string, unknown>,
  place: string,
  collated: Scope['collated'],
): DocumentTest {
  return compileObject(criteria, place, { root: 'item', roots: new Set(), collated }).test;
}

function every(parts: readonly Part[]): Part {
  const sorted = parts.flatMap((part) => part.parts ?? part).toSorted((a, b) => a.cost - b.cost);
  return { test: everyTest(sorted.map(({ test }) => test)), cost: totalCost(parts), parts: sorted };
}

function everyTest(tests: readonly DocumentTest[]): DocumentTest {
  const [first, second, third] = tests;
  if (!first) return () => true;
  if (!second) return first;
  if (!third) return (document) => first(document) && second(document);
  return (document) => tests.every((test) => test(document));
}

function some(parts: readonly Part[]): Part {
  const tests = byCost(parts);
  const [first, second, third] = tests;
  const cost = totalCost(parts);
  if (first && second && !third)
    return { test: (document) => first(document) || second(document), cost };
  return { test: (document) => tests.some((test) => test(document)), cost };
}

function none(parts: readonly Part[]): Part {
  const { test, cost } = some(parts);
  return { test: (document) => !test(document), cost };
}

function byCost(parts: readonly Part[]): readonly DocumentTest[] {
  return parts.toSorted((a, b) => a.cost - b.cost).map((part) => part.test);
}

function totalCost(parts: readonly Part[]): number {
  return parts.reduce((sum, part) => sum + part.cost, 0);
}
