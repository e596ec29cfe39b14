import { CriteriaError } from '../../errors/errors.ts';
import { readerOf } from '../path/own-property.ts';
import { operandInvalid, operatorUnknown, placeBelow } from '../query-errors.ts';
import { orderIn } from '../value/collation.ts';
import { isFields } from '../value/value-type.ts';
import {
  constant,
  type Evaluate,
  type ExpressionOperator,
  type ExpressionSettings,
  isConstant,
  type Scope,
  type Variable,
  variableName,
  withVariables,
} from './operator.ts';
import { arithmetic } from './operators/arithmetic.ts';
import { arrays, sets } from './operators/arrays.ts';
import { comparisons, types } from './operators/comparisons.ts';
import { dates } from './operators/dates.ts';
import { objects } from './operators/objects.ts';
import { strings } from './operators/strings.ts';

export interface CompiledExpression {
  readonly evaluate: Evaluate;
  /** First segments of the paths that it reads; `_id` where it reads the whole document. */
  readonly roots: ReadonlySet<string>;
}

const operators: ReadonlyMap<string, ExpressionOperator> = new Map(
  Object.entries({
    ...arithmetic,
    ...comparisons,
    ...strings,
    ...arrays,
    ...objects,
    ...types,
    ...sets,
    ...dates,
    $literal: constant,
    $let: bind,
  } satisfies Record<string, ExpressionOperator>),
);

/** Deepest nesting: compiling and evaluating recurse. */
const MAX_DEPTH = 100;

/**
 * Compiles an expression of MongoDB's aggregation language to closures. A missing field is
 * `undefined`, as is a stored one.
 *
 * https://www.mongodb.com/docs/manual/reference/operator/aggregation/
 *
 * @param expression A copy of the caller's, of plain data.
 * @param place Where it stands, such as `$expr`.
 * @throws {CriteriaError} naming the place; the closure throws `operand_invalid` for a value of a
 *   wrong kind.
 *
 * @example
 * ```ts
 * const { evaluate } = compileExpression({ $gt: ['$spent', '$budget'] }, '$expr', { now: 0 });
 * evaluate({ spent: 5, budget: 3 }); // true
 * ```
 */
export function compileExpression(
  expression: unknown,
  place: string,
  { now, variables, collation }: ExpressionSettings,
): CompiledExpression {
  const roots = new Set<string>();
  const root = { value: undefined as unknown };
  const scope: Scope = {
    depth: 0,
    variables: new Map<string, Variable>([
      ['ROOT', root],
      ['CURRENT', root],
      ['NOW', { value: new Date(now), isConstant: true }],
      ['REMOVE', { value: undefined, isConstant: true }],
      ...(variables ?? []),
    ]),
    roots,
    reads: { count: 0 },
    collation,
    compare: orderIn(collation),
    compile,
  };
  const evaluate = compile(expression, place, scope);
  if (!roots.has('$$')) return { evaluate, roots };
  roots.add('_id');
  return {
    evaluate: (document) => {
      root.value = document;
      return evaluate(document);
    },
    roots,
  };
}

/** Compiles an expression; where it reads nothing of the document, to its value. */
function compile(expression: unknown, place: string, scope: Scope): Evaluate {
  const { count } = scope.reads;
  const evaluate = compileOne(expression, place, scope);
  if (scope.reads.count > count || isConstant(evaluate)) return evaluate;
  try {
    return constant(evaluate(undefined));
  } catch (error) {
    // An error is that of a document, as the expression may never be evaluated.
    if (!(error instanceof CriteriaError)) throw error;
    scope.reads.count++;
    return evaluate;
  }
}

function compileOne(expression: unknown, place: string, scope: Scope): Evaluate {
  if (scope.depth > MAX_DEPTH)
    throw operandInvalid(place.slice(0, 200), `nested at most ${MAX_DEPTH} levels`, expression);
  const below: Scope = { ...scope, depth: scope.depth + 1 };
  if (typeof expression === 'string' && expression.startsWith('$'))
    return compilePath(expression, place, scope);
  if (Array.isArray(expression)) {
    const items = expression.map((item, index) => compile(item, placeBelow(place, index), below));
    return (document) => items.map((item) => item(document) ?? null);
  }
  if (!isFields(expression)) return constant(expression);
  const entries = Object.entries(expression);
  const [first] = entries;
  if (entries.length === 1 && first?.[0].startsWith('$')) {
    const [name, operand] = first;
    const at = placeBelow(place, name);
    const operator = operators.get(name);
    if (!operator) throw operatorUnknown(at, name, [...operators.keys()], undefined);
    return operator(operand, at, below);
  }
  const mixed = entries.find(([key]) => key.startsWith('$') || key.includes('.'));
  if (mixed)
    throw operandInvalid(
      placeBelow(place, mixed[0]),
      'one operator alone, or plain fields',
      mixed[1],
    );
  return compileObject(entries, place, below);
}

function compileObject(
  entries: readonly (readonly [string, unknown])[],
  place: string,
  scope: Scope,
): Evaluate {
  const fields = entries.map(([key, value]) => {
    return [key, compile(value, placeBelow(place, key), scope)] as const;
  });
  return (document) => {
    const made: Record<string, unknown> = {};
    for (const [key, evaluate] of fields) {
      const value = evaluate(document);
      if (value !== undefined) made[key] = value;
    }
    return made;
  };
}

function compilePath(path: string, place: string, { variables, roots, reads }: Scope): Evaluate {
  const [head = '', ...rest] = path.slice(1).split('.');
  const isVariable = head.startsWith('$');
  const segments = isVariable ? rest : [head, ...rest];
  if (segments.some((one) => one === '' || one === '__proto__'))
    throw operandInvalid(place, 'a path such as "$name" or "$$this.name"', path);
  if (!isVariable) {
    reads.count++;
    roots.add(head);
    return readPath(segments, true);
  }
  const name = head.slice(1);
  const variable = variables.get(name);
  if (!variable)
    throw new CriteriaError(
      'operand_invalid',
      `'${place}' uses the variable "$$${name}", which is not defined; there are ${[...variables.keys()].map((known) => `$$${known}`).join(', ')}.`,
      { place },
    );
  const read = readPath(segments, false);
  if (variable.isConstant) return constant(read(variable.value));
  reads.count++;
  if (name === 'ROOT' || name === 'CURRENT') roots.add('$$');
  return segments.length === 0 ? () => variable.value : () => read(variable.value);
}

/** `$let`: names values for an expression. */
function bind(operand: unknown, place: string, scope: Scope): Evaluate {
  if (!isFields(operand) || !isFields(operand.vars) || !('in' in operand))
    throw operandInvalid(place, '{ vars, in }', operand);
  const cells: Record<string, Variable> = {};
  const bound = Object.entries(operand.vars).map(([name, value]) => {
    const at = `${place}.vars.${name}`;
    const cell = { value: undefined as unknown };
    cells[variableName(name, at)] = cell;
    return { cell, evaluate: scope.compile(value, at, scope) };
  });
  const body = scope.compile(operand.in, `${place}.in`, withVariables(scope, cells));
  return (document) => {
    // All of them first: one does not see another.
    const values = bound.map(({ evaluate }) => evaluate(document));
    for (const [index, { cell }] of bound.entries()) cell.value = values[index];
    return body(document);
  };
}

/**
 * Reads a dotted path. An array on the way gives the values in its objects, without those that are
 * missing; a position in an array is no segment.
 */
function readPath(segments: readonly string[], ofDocument: boolean): Evaluate {
  const [first, second, ...rest] = segments;
  if (first === undefined) return (value) => value;
  const isDirect =
    !readerOf(first, ofDocument) && (second === undefined || !readerOf(second, false));
  if (!isDirect || rest.length > 0) return (value) => read(value, segments, 0);
  // Most paths have a segment or two: no function is called for each document.
  if (second === undefined)
    return ofDocument
      ? (value) => (value as Fields)[first]
      : (value) => (isObject(value) ? value[first] : read(value, segments, 0));
  return (value) => {
    const outer = ofDocument || isObject(value) ? (value as Fields)[first] : undefined;
    return isObject(outer) ? outer[second] : read(value, segments, 0);
  };
}

type Fields = Record<string, unknown>;

/** Whether a value has fields: a built-in such as Date has none of a name that needs no reader. */
function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function read(value: unknown, segments: readonly string[], at: number): unknown {
  const segment = segments[at];
  if (segment === undefined) return value;
  if (Array.isArray(value)) {
    const found: unknown[] = [];
    for (const item of value) {
      const inside = isFields(item) || Array.isArray(item) ? read(item, segments, at) : undefined;
      if (inside !== undefined) found.push(inside);
    }
    return found;
  }
  return isFields(value) ? read(own(value, segment), segments, at + 1) : undefined;
}

function own(fields: Record<string, unknown>, key: string): unknown {
  return Object.hasOwn(fields, key) ? fields[key] : undefined;
}
