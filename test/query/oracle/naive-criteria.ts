/** The order of strings, while {@link inCollation} runs. */
let collator: Intl.Collator | undefined;

/** Runs with strings in the order of a collator. */
export function inCollation<T>(order: Intl.Collator | undefined, run: () => T): T {
  collator = order;
  try {
    return run();
  } finally {
    collator = undefined;
  }
}

/**
 * MongoDB's documented rules, written slow and plain: list every candidate of a path, then test
 * each one. Shares no code with `src`: a bug goes unnoticed only if both have it.
 */
export function naiveMatch(document: unknown, criteria: Record<string, unknown>): boolean {
  return Object.entries(criteria).every(([key, value]) => {
    const list = value as Record<string, unknown>[];
    if (key === '$and') return list.every((part) => naiveMatch(document, part));
    if (key === '$or') return list.some((part) => naiveMatch(document, part));
    if (key === '$nor') return !list.some((part) => naiveMatch(document, part));
    return matchField(document, key.split('.'), value);
  });
}

interface Candidate {
  readonly value: unknown;
  readonly present: boolean;
  /** Whether the candidate is at the end of a path, where an array also offers its items. */
  readonly open: boolean;
}

const missing: Candidate = { value: undefined, present: false, open: false };

/** All values at a path; arrays at its end are not unwound. */
function candidatesOf(container: unknown, path: readonly string[]): Candidate[] {
  const [key, ...rest] = path as [string, ...string[]];
  if (!Object.hasOwn(container as object, key)) return [missing];
  const value = (container as Record<string, unknown>)[key];
  if (rest.length === 0) return [{ value, present: true, open: true }];
  if (Array.isArray(value)) return candidatesInArray(value, rest);
  return isObject(value) ? candidatesOf(value, rest) : [missing];
}

function candidatesInArray(items: readonly unknown[], path: readonly string[]): Candidate[] {
  const [key, ...rest] = path as [string, ...string[]];
  const inObjects = items.filter(isObject).flatMap((item) => candidatesOf(item, path));
  if (String(Number(key)) !== key || !(Number(key) in items)) return inObjects;
  const item = items[Number(key)];
  if (rest.length === 0) return [...inObjects, { value: item, present: true, open: false }];
  if (isObject(item)) return [...inObjects, ...candidatesOf(item, rest)];
  return Array.isArray(item) ? [...inObjects, ...candidatesInArray(item, rest)] : inObjects;
}

type Ask = (
  test: (value: unknown, present: boolean) => boolean,
  takeArraysApart: boolean,
) => boolean;

function matchField(document: unknown, path: readonly string[], criteria: unknown): boolean {
  const candidates = candidatesOf(document, path);
  return matchCriteria(criteria, (test, takeArraysApart) =>
    candidates
      .flatMap((candidate) =>
        takeArraysApart && candidate.open && Array.isArray(candidate.value)
          ? [...candidate.value.map((value) => ({ value, present: true })), candidate]
          : [candidate],
      )
      .some(({ value, present }) => test(value, present)),
  );
}

/** An item tested on its own, as by `$elemMatch`. */
export function naiveMatchItem(item: unknown, criteria: Record<string, unknown>): boolean {
  const first = Object.keys(criteria)[0];
  if (first?.startsWith('$') && !['$and', '$or', '$nor'].includes(first)) {
    return matchCriteria(criteria, (test) => test(item, true));
  }
  return (isObject(item) || Array.isArray(item)) && naiveMatch(item, criteria);
}

function matchCriteria(criteria: unknown, ask: Ask): boolean {
  if (criteria instanceof RegExp) return ask((value) => matchesPattern(value, criteria), true);
  if (!isObject(criteria) || !Object.keys(criteria).some((key) => key.startsWith('$'))) {
    return ask((value) => equalsOperand(value, criteria), true);
  }
  return Object.entries(criteria).every(([name, operand]) =>
    matchOperator(name, operand, criteria, ask),
  );
}

function matchOperator(
  name: string,
  operand: unknown,
  operators: Record<string, unknown>,
  ask: Ask,
): boolean {
  const list = operand as unknown[];
  switch (name) {
    case '$eq':
      return ask((value) => equalsOperand(value, operand), true);
    case '$ne':
      return !matchOperator('$eq', operand, operators, ask);
    case '$gt':
    case '$gte':
    case '$lt':
    case '$lte':
      return ask((value) => compares(name, value, operand), true);
    case '$in':
      return list.some((item) => matchCriteria(item instanceof RegExp ? item : { $eq: item }, ask));
    case '$nin':
      return !matchOperator('$in', operand, operators, ask);
    case '$not':
      return !matchCriteria(operand, ask);
    case '$exists':
      return ask((_value, present) => present, true) === Boolean(operand);
    case '$type':
      return [operand].flat().some((type) => ask((value) => typesOf(value).includes(type), true));
    case '$regex': {
      const { source, flags } = new RegExp(operand as string);
      return ask(
        (value) => matchesPattern(value, new RegExp(source, String(operators.$options ?? flags))),
        true,
      );
    }
    case '$options':
      return true;
    case '$size':
      return ask((value) => Array.isArray(value) && value.length === operand, false);
    case '$all':
      return (
        list.length > 0 &&
        list.every((item) =>
          matchCriteria(item instanceof RegExp || isElemMatch(item) ? item : { $eq: item }, ask),
        )
      );
    case '$elemMatch': {
      const criteria = operand as Record<string, unknown>;
      return ask(
        (value) => Array.isArray(value) && value.some((item) => naiveMatchItem(item, criteria)),
        false,
      );
    }
    case '$mod': {
      const [divisor, remainder] = list.map((number) => Math.trunc(number as number)) as [
        number,
        number,
      ];
      return ask((value) => {
        if (typeof value === 'bigint') return value % BigInt(divisor) === BigInt(remainder);
        if (typeof value !== 'number' || !Number.isFinite(value)) return false;
        const rest = Math.trunc(value) % divisor;
        return rest - remainder === 0;
      }, true);
    }
    default:
      throw new Error(`The oracle does not know ${name}`);
  }
}

function compares(name: string, value: unknown, operand: unknown): boolean {
  const equal = equalsOperand(value, operand);
  if (equal) return name.endsWith('e');
  if (kindOf(value) !== kindOf(operand) || isNaNOrNever(value) || isNaNOrNever(operand))
    return false;
  const order = naiveOrder(value, operand);
  return name.startsWith('$g') ? order > 0 : order < 0;
}

/** NaN, or an invalid Date. */
function isNaNOrNever(value: unknown): boolean {
  return Number.isNaN(value instanceof Date ? value.getTime() : value);
}

function equalsOperand(value: unknown, operand: unknown): boolean {
  if (operand === null || operand === undefined) return value === null || value === undefined;
  return naiveOrder(value, operand) === 0;
}

function matchesPattern(value: unknown, pattern: RegExp): boolean {
  return typeof value === 'string'
    ? pattern.test(value)
    : String(value) === String(pattern) && value instanceof RegExp;
}

const kinds = [
  'undefined',
  'null',
  'number',
  'string',
  'object',
  'array',
  'boolean',
  'date',
  'regexp',
];

function kindOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  if (value instanceof Date) return 'date';
  if (value instanceof RegExp) return 'regexp';
  return typeof value === 'bigint' ? 'number' : typeof value;
}

/** BSON's order of two values, for the kinds in the property tests. */
export function naiveOrder(a: unknown, b: unknown): number {
  const byKind = kinds.indexOf(kindOf(a)) - kinds.indexOf(kindOf(b));
  if (byKind !== 0) return byKind;
  switch (kindOf(a)) {
    case 'array':
      return firstDifference(a as unknown[], b as unknown[], naiveOrder);
    case 'object':
      return firstDifference(Object.entries(a as object), Object.entries(b as object), (x, y) => {
        const byKindOfValue = kinds.indexOf(kindOf(x[1])) - kinds.indexOf(kindOf(y[1]));
        return byKindOfValue || byCodeUnit(x[0], y[0]) || naiveOrder(x[1], y[1]);
      });
    case 'number':
      if (Number.isNaN(a) || Number.isNaN(b))
        return Number(Number.isNaN(b)) - Number(Number.isNaN(a));
      break;
    case 'regexp':
      return byCodeUnit(String(a), String(b));
    case 'string':
      if (collator) return collator.compare(a as string, b as string);
  }
  if (a instanceof Date && b instanceof Date) return naiveOrder(a.getTime(), b.getTime());
  return byCodeUnit(a as number, b as number);
}

function byCodeUnit<T extends string | number>(a: T, b: T): number {
  if (a < b) return -1;
  return a > b ? 1 : 0;
}

function firstDifference<T>(
  a: readonly T[],
  b: readonly T[],
  order: (a: T, b: T) => number,
): number {
  const orders = a.slice(0, b.length).map((item, index) => order(item, b[index] as T));
  return orders.find((difference) => difference !== 0) ?? a.length - b.length;
}

function typesOf(value: unknown): unknown[] {
  switch (kindOf(value)) {
    case 'number':
      if (typeof value === 'bigint') return ['long', 18, 'number'];
      return ['double', 1, 'number', ...(Number.isInteger(value) ? ['int', 16] : [])];
    case 'string':
      return ['string', 2];
    case 'object':
      return ['object', 3];
    case 'array':
      return ['array', 4];
    case 'boolean':
      return ['bool', 8];
    case 'date':
      return ['date', 9];
    case 'null':
      return ['null', 10];
    default:
      return [];
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return kindOf(value) === 'object';
}

function isElemMatch(value: unknown): boolean {
  return isObject(value) && Object.hasOwn(value, '$elemMatch');
}
