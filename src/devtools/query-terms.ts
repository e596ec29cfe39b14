import { isPlainObject } from '../codec/kinds.ts';
import { prefixInterval } from '../query/plan/interval.ts';

/** The paths of criteria that an index can serve, in the order of the criteria. */
export interface Terms {
  /** Must equal one value. */
  readonly equal: ReadonlySet<string>;
  /** Must equal one of several values. */
  readonly several: ReadonlySet<string>;
  /** Must lie in a range, or begin with a text. */
  readonly ranges: ReadonlySet<string>;
  /** Paths that hold arrays, as the operators say. */
  readonly inArrays: ReadonlySet<string>;
  /** The branches of the first `$or`. */
  readonly branches: readonly Terms[];
}

const RANGES: ReadonlySet<string> = new Set(['$gt', '$gte', '$lt', '$lte']);

export function termsOf(criteria: Readonly<Record<string, unknown>>): Terms {
  const equal = new Set<string>();
  const several = new Set<string>();
  const ranges = new Set<string>();
  const inArrays = new Set<string>();
  let branches: readonly Terms[] = [];
  const addAll = (fields: Readonly<Record<string, unknown>>): void => {
    for (const [path, condition] of Object.entries(fields)) {
      if (path === '$and') objectsIn(condition).forEach(addAll);
      else if (path === '$or') branches = objectsIn(condition).map(termsOf);
      else if (!path.startsWith('$') && path !== '_id') add(path, condition);
    }
  };
  const add = (path: string, condition: unknown): void => {
    if (condition instanceof RegExp) addPattern(path, condition);
    else if (isScalar(condition)) equal.add(path);
    else if (isPlainObject(condition))
      for (const [operator, operand] of Object.entries(condition))
        addOperator(path, operator, operand, condition.$options);
  };
  const addOperator = (path: string, name: string, operand: unknown, flags: unknown): void => {
    if (name === '$eq' && isScalar(operand)) equal.add(path);
    else if (name === '$in' && Array.isArray(operand)) several.add(path);
    else if (name === '$all' && Array.isArray(operand)) {
      inArrays.add(path);
      several.add(path);
    } else if (name === '$regex' && !flags) addPattern(path, operand);
    else if (RANGES.has(name)) ranges.add(path);
  };
  const addPattern = (path: string, pattern: unknown): void => {
    const given = pattern instanceof RegExp ? pattern : { source: String(pattern), flags: '' };
    // As the planner decides it.
    if (prefixInterval(given as RegExp)) ranges.add(path);
  };
  addAll(criteria);
  return { equal, several, ranges, inArrays, branches };
}

/** Whether an index can hold the value as a key. */
function isScalar(value: unknown): boolean {
  return typeof value !== 'object' || value === null || value instanceof Date;
}

function objectsIn(list: unknown): Record<string, unknown>[] {
  return Array.isArray(list) ? list.filter(isPlainObject) : [];
}
