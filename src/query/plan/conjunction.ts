import { isFields, isRegExp } from '../value/value-type.ts';
import {
  type Interval,
  intervalsOf,
  intervalsOfAny,
  isPrefixOnly,
  prefixInterval,
} from './interval.ts';

/** A condition on one field that keys can decide. */
export interface Term {
  readonly path: string;
  readonly intervals: readonly Interval[];
  /** Whether every key in the intervals fulfils it, so that no document needs testing. */
  readonly exact: boolean;
}

/** Criteria as the planner sees them: all parts must hold. */
export interface Conjunction {
  readonly terms: readonly Term[];
  /** The branches of each `$or`. */
  readonly choices: readonly (readonly Conjunction[])[];
  /** Whether there are parts that keys cannot decide. */
  readonly rest: boolean;
}

/** @param criteria Criteria that `compileCriteria` has accepted. */
export function conjunctionOf(criteria: Record<string, unknown>): Conjunction {
  const terms: Term[] = [];
  const choices: Conjunction[][] = [];
  let rest = false;
  const add = (path: string, operator: string, operand: unknown, options?: unknown): void => {
    const found = options ? undefined : termsOf(path, operator, operand);
    if (found) terms.push(...found);
    else rest = true;
  };
  const addAll = (fields: Record<string, unknown>): void => {
    for (const [path, value] of Object.entries(fields)) {
      const list = value as Record<string, unknown>[];
      if (path === '$and' || (path === '$or' && list.length === 1)) list.forEach(addAll);
      else if (path === '$or') choices.push(list.map(conjunctionOf));
      else if (path.startsWith('$')) rest = true;
      else if (isRegExp(value)) add(path, '$regex', value);
      else if (!isFields(value) || !Object.keys(value).some((key) => key.startsWith('$'))) {
        add(path, '$eq', value);
      } else {
        for (const [operator, operand] of Object.entries(value)) {
          if (operator !== '$options')
            add(path, operator, operand, operator === '$regex' && value.$options);
        }
      }
    }
  };
  addAll(criteria);
  return { terms, choices, rest };
}

/** One operator as terms that must all hold; `undefined` if keys cannot decide it. */
function termsOf(path: string, operator: string, operand: unknown): readonly Term[] | undefined {
  switch (operator) {
    case '$eq':
    case '$gt':
    case '$gte':
    case '$lt':
    case '$lte':
      return termOf(path, intervalsOf(operator, operand), true);
    case '$regex': {
      const pattern = isRegExp(operand) ? operand : new RegExp(operand as string);
      const interval = prefixInterval(pattern);
      return termOf(path, interval && [interval], isPrefixOnly(pattern));
    }
    case '$in': {
      const items = operand as readonly unknown[];
      const exact = items.every((item) => !isRegExp(item) || isPrefixOnly(item));
      return termOf(path, intervalsOfAny(items), exact);
    }
    case '$all': {
      const items = operand as readonly unknown[];
      const terms = items.flatMap(
        (item) => termOf(path, intervalsOfAny([item]), !isRegExp(item)) ?? [],
      );
      return items.length > 0 && terms.length === items.length ? terms : undefined;
    }
    default:
      return undefined;
  }
}

function termOf(
  path: string,
  intervals: readonly Interval[] | undefined,
  exact: boolean,
): readonly Term[] | undefined {
  return intervals && [{ path, intervals, exact }];
}
