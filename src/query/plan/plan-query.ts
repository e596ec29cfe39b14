import type { Scalar } from '../index/index-key.ts';
import { type KeyRange, WHOLE } from '../index/key-range.ts';
import type { Ranked } from '../index/leaf-list.ts';
import type { SecondaryIndex } from '../index/secondary-index.ts';
import type { SortField, SortOrder } from '../sort/compile-sort.ts';
import { orderIn } from '../value/collation.ts';
import type { Compare } from '../value/compare-values.ts';
import { isFields, isRegExp } from '../value/value-type.ts';
import {
  type Interval,
  intersect,
  intervalsOf,
  intervalsOfAny,
  isPoint,
  isWithin,
  prefixes,
} from './interval.ts';
import type { IndexPlan, Plan, PlanByKeys } from './plan.ts';

export interface PlannedIndex
  extends Pick<SecondaryIndex<Ranked>, 'definition' | 'size' | 'estimate'> {
  readonly unkeyed: { readonly size: number };
}

type PlannedIndexes = ReadonlyMap<string, PlannedIndex>;

export interface PlannedQuery {
  /** Criteria that `compileCriteria` has accepted. */
  readonly criteria: object;
  /** Left out for the insertion order. */
  readonly order?: SortOrder | undefined;
  readonly indexes: PlannedIndexes;
  /** The order of strings; only indexes of the same one serve. */
  readonly collation?: string | undefined;
  /** Which archived documents count, as `where` of an index may exclude some. */
  readonly archived?: boolean | 'only' | undefined;
  /** How many documents the caller wants, those to skip included; left out for all. */
  readonly limit?: number | undefined;
  /** How many documents there are. */
  readonly documents: number;
  /** Whether nearly all are decoded in memory: a scan is cheap then. */
  readonly isDecoded?: boolean | undefined;
}

/**
 * Cost of scanning one decoded document, against 1 for reading a key: 0.08 µs, against 0.8 µs for a
 * candidate that has to be fetched, tested and sorted (100,000 documents, Chromium).
 */
const SCANNED = 0.3;

/** The part of all documents that an index may hold and be read whole in the place of a scan. */
const FEW = 0.25;

/** Ranges in one plan; with more, the criteria test the remaining fields. */
const MOST_RANGES = 10_000;
/** Ranges whose keys are estimated to choose between plans. */
const COUNTED = 100;

/** No limit; finite, so that it can be multiplied by 0. */
const ALL = Number.MAX_SAFE_INTEGER;

interface Choice {
  readonly plan: PlanByKeys;
  /** Estimated number of candidates. */
  readonly keys: number;
}

interface Context {
  readonly indexes: readonly PlannedIndex[];
  readonly collation: string | undefined;
  readonly compare: Compare;
  /** What holds of all documents that count, beside the criteria; few queries ask. */
  readonly given: () => readonly Term[];
  readonly order: readonly SortField[];
  readonly limit: number;
  readonly documents: number;
}

/**
 * Plans a query by rules and by counting keys. A plan is valid until one of the indexes changes.
 *
 * An index qualifies if the criteria name its first field or if it gives the requested order; of
 * several, the cheapest wins. `$or` needs an index for each branch. If none qualifies, or a scan
 * costs less, the plan is a scan. docs/decisions/013-indexes-and-plans.md has the rules.
 */
export function planQuery(query: PlannedQuery): Plan {
  const { order, collation, documents, limit = ALL } = query;
  const compare = orderIn(collation);
  const conjunction = conjunctionOf(query.criteria as Record<string, unknown>, compare);
  const { terms, choices, rest } = conjunction;
  const indexes = [...query.indexes.values()].filter(
    ({ definition }) => definition.collation === collation,
  );
  const given = () => givenBy(query, compare);
  const context = {
    ...{ indexes, collation, compare, given, limit, documents },
    order: order?.fields ?? [],
  };
  const best = choose(conjunction, context);
  const scanned = query.isDecoded ? documents * SCANNED * (order ? 2 : 1) : ALL;
  if (best && best.cost <= scanned) return best.plan;
  return { kind: 'scan', exact: terms.length + choices.length === 0 && !rest, ordered: !order };
}

/** What holds of all documents that count, beside the criteria. */
export function givenBy({ archived = true }: PlannedQuery, compare: Compare): readonly Term[] {
  return archived === true ? [] : conjunctionOf({ _archived: archived === 'only' }, compare).terms;
}

/** Whether documents that fulfil some terms fulfil `where`. No prover: each part by one term. */
export function isImplied(
  where: Record<string, unknown>,
  terms: readonly Term[],
  compare: Compare,
): boolean {
  return conjunctionOf(where, compare).terms.every((wanted) =>
    terms.some((term) => implies(term, wanted, compare)),
  );
}

/** Whether what fulfils a term lies in the intervals of another. */
function implies(term: Term, other: Term, compare: Compare): boolean {
  const isSame = term.path === other.path && !term.isPattern;
  return isSame && isWithin(term.intervals, other.intervals, compare);
}

function choose(
  conjunction: Conjunction,
  context: Context,
): (Choice & { readonly cost: number }) | undefined {
  const all: Choice[] = [
    ...byIds(conjunction, context),
    ...context.indexes.flatMap((index) => byIndex(conjunction, index, context)),
    ...conjunction.choices.flatMap((_, number) => byUnion(conjunction, number, context)),
  ];
  const matches = Math.min(...all.map(({ keys }) => keys));
  let best: Choice | undefined;
  let least = Number.POSITIVE_INFINITY;
  for (const choice of all) {
    const cost = costOf(choice, matches, context.limit);
    if (cost < least) [best, least] = [choice, cost];
  }
  return best && { ...best, cost: least };
}

/**
 * Cost in keys read. Testing a document adds one, sorting it another. An ordered plan stops early,
 * after `limit` matches, which are assumed to be spread evenly among its keys.
 */
function costOf({ plan, keys }: Choice, matches: number, limit: number): number {
  const { exact, ordered } = plan;
  const read = ordered
    ? Math.min(keys, exact ? limit : (limit * keys) / Math.max(1, matches))
    : keys;
  return (read + 1) * ((exact ? 1 : 2) + (ordered ? 0 : 1));
}

function byIds({ terms, choices, rest }: Conjunction, { collation, compare }: Context): Choice[] {
  const own = terms.filter(({ path }) => path === '_id');
  const intervals = common(own, compare);
  const isByKey = own.length > 0 && !collation && intervals.every((one) => isPoint(one, compare));
  if (!isByKey) return [];
  const ids = intervals.map(({ from }) => from).filter((id) => typeof id === 'string');
  const exact = isCovered(own, terms) && choices.length === 0 && !rest;
  return [{ plan: { kind: 'ids', ids, exact, ordered: ids.length < 2 }, keys: ids.length }];
}

function byUnion(
  { terms, choices, rest }: Conjunction,
  number: number,
  context: Context,
): Choice[] {
  const found: Choice[] = [];
  for (const branch of choices[number] as readonly Conjunction[]) {
    const whole = {
      terms: [...terms, ...branch.terms],
      choices: branch.choices,
      rest: rest || branch.rest || choices.length > 1,
    };
    const choice = choose(whole, { ...context, order: [], limit: ALL });
    if (!choice) return [];
    found.push(choice);
  }
  const branches = found.map(({ plan }) => plan);
  const exact = branches.every((plan) => plan.exact);
  const keys = found.reduce((sum, choice) => sum + choice.keys, 0);
  return [{ plan: { kind: 'union', branches, exact, ordered: false }, keys }];
}

function byIndex(conjunction: Conjunction, index: PlannedIndex, context: Context): Choice[] {
  const { fields, multi, where } = index.definition;
  const { compare, given } = context;
  if (where && !isImplied(where, [...conjunction.terms, ...given()], compare)) return [];
  const own = fields.map((path) => conjunction.terms.filter((term) => term.path === path));
  // Different items may match two operators: the index can look up only one of them.
  if (multi)
    return (own[0] as Term[]).flatMap((term) => indexChoice([[term]], conjunction, index, context));
  return indexChoice(own, conjunction, index, context);
}

/** @param terms For each field of the index. */
function indexChoice(
  terms: readonly (readonly Term[])[],
  { terms: all, choices, rest }: Conjunction,
  index: PlannedIndex,
  { order, limit, compare, documents }: Context,
): Choice[] {
  const { name, fields, multi, where } = index.definition;
  const used: Term[] = [];
  let tuples: readonly (readonly Scalar[])[] = [[]];
  let last: readonly Interval[] | undefined;
  let fixed = 0;
  for (const own of terms) {
    const intervals = common(own, compare);
    if (own.length === 0 || tuples.length * intervals.length > MOST_RANGES) break;
    used.push(...own);
    if (!intervals.every((one) => isPoint(one, compare))) {
      last = intervals;
      break;
    }
    if (tuples.length === 1 && intervals.length === 1) fixed++;
    tuples = tuples.flatMap((tuple) => intervals.map(({ from }) => [...tuple, from]));
  }
  const ranges = rangesOf(tuples, last);
  const plain = index.unkeyed.size === 0;
  // What each document of the index fulfils anyway.
  const held = where ? conjunctionOf(where, compare).terms : [];
  const sure = all.filter((term) => held.some((one) => implies(one, term, compare)));
  const exact = plain && isCovered([...used, ...sure], all) && choices.length === 0 && !rest;
  // An array found by one item sorts by another of its items.
  const sortable = plain && (!multi || order.length === 0);
  const direction = sortable ? directionOf(fields, fixed, order) : undefined;
  const ordered = direction !== undefined;
  // Sorting all matches is cheaper than fetching every document in index order.
  const hasFew = where !== undefined && index.size <= documents * FEW;
  if (used.length === 0 && !hasFew && !(ordered && (exact || limit < index.size))) return [];
  const plan: IndexPlan = {
    kind: 'index',
    index: name,
    ranges,
    exact,
    ordered,
    reverse: direction === -1,
  };
  const counted = ranges.slice(0, COUNTED).reduce((sum, range) => sum + index.estimate(range), 0);
  const keys = (counted * ranges.length) / Math.max(1, Math.min(COUNTED, ranges.length));
  return [{ plan, keys: keys + index.unkeyed.size }];
}

function rangesOf(
  tuples: readonly (readonly Scalar[])[],
  last: readonly Interval[] | undefined,
): readonly KeyRange[] {
  if (last) {
    return tuples.flatMap((tuple) =>
      last.map((interval) => ({
        ...interval,
        from: [...tuple, interval.from],
        to: [...tuple, interval.to],
      })),
    );
  }
  return tuples.map((tuple) => ({ ...WHOLE, from: tuple, to: tuple }));
}

/**
 * The direction in which an index gives the requested order, `undefined` if it does not. Its first
 * `fixed` fields have one value each. The remaining fields of index and sort must be the same: if
 * the sort had fewer, documents that it compares as equal would not come in insertion order.
 */
function directionOf(
  fields: readonly string[],
  fixed: number,
  order: readonly SortField[],
): 1 | -1 | undefined {
  const open = order.filter(({ path }) => !fields.slice(0, fixed).includes(path));
  const direction = open[0]?.direction ?? 1;
  const same =
    open.length === fields.length - fixed &&
    open.every((field, at) => field.path === fields[fixed + at] && field.direction === direction);
  return same ? direction : undefined;
}

/** The intervals that fulfil all terms of one field. */
function common(terms: readonly Term[], compare: Compare): readonly Interval[] {
  const [first, ...others] = terms;
  const intervals = first?.intervals ?? [];
  return others.reduce((sum, term) => intersect(sum, term.intervals, compare), intervals);
}

function isCovered(used: readonly Term[], all: readonly Term[]): boolean {
  return all.every((term) => term.exact && used.includes(term));
}

/** A condition on one field that keys can decide. */
interface Term {
  readonly path: string;
  readonly intervals: readonly Interval[];
  /** Whether every key in the intervals fulfils it, so that no document needs testing. */
  readonly exact: boolean;
  /** Whether a RegExp may fulfil it, which has no key. */
  readonly isPattern: boolean;
}

/** Criteria as the planner sees them: all parts must hold. */
interface Conjunction {
  readonly terms: readonly Term[];
  /** The branches of each `$or`. */
  readonly choices: readonly (readonly Conjunction[])[];
  /** Whether there are parts that keys cannot decide. */
  readonly rest: boolean;
}

/** @param criteria Criteria that `compileCriteria` has accepted. */
export function conjunctionOf(criteria: Record<string, unknown>, compare: Compare): Conjunction {
  const terms: Term[] = [];
  const choices: Conjunction[][] = [];
  let rest = false;
  const add = (path: string, operator: string, operand: unknown, options?: unknown): void => {
    const found = options ? undefined : termsOf(path, operator, operand, compare);
    if (found) terms.push(...found);
    else rest = true;
  };
  const addAll = (fields: Record<string, unknown>): void => {
    for (const [path, value] of Object.entries(fields)) {
      const list = value as Record<string, unknown>[];
      if (path === '$and' || (path === '$or' && list.length === 1)) list.forEach(addAll);
      else if (path === '$or') choices.push(list.map((one) => conjunctionOf(one, compare)));
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
function termsOf(
  path: string,
  operator: string,
  operand: unknown,
  compare: Compare,
): readonly Term[] | undefined {
  switch (operator) {
    case '$eq':
    case '$gt':
    case '$gte':
    case '$lt':
    case '$lte':
      return termOf(path, intervalsOf(operator, operand, compare), true);
    case '$regex':
      return termsOf(
        path,
        '$in',
        [isRegExp(operand) ? operand : new RegExp(operand as string)],
        compare,
      );
    case '$in': {
      const items = operand as readonly unknown[];
      const exact = items.every((item) => !isRegExp(item) || prefixes()?.isPrefixOnly(item));
      return termOf(path, intervalsOfAny(items, compare), exact, items.some(isRegExp));
    }
    case '$all': {
      const terms = (operand as readonly unknown[]).map((item) =>
        termsOf(path, '$in', [item], compare),
      );
      return terms.length > 0 && !terms.includes(undefined)
        ? (terms as (readonly Term[])[]).flat()
        : undefined;
    }
    default:
      return undefined;
  }
}

function termOf(
  path: string,
  intervals: readonly Interval[] | undefined,
  exact: boolean,
  isPattern = false,
): readonly Term[] | undefined {
  return intervals && [{ path, intervals, exact, isPattern }];
}
