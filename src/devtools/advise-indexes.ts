import type { Collation } from '../api/options/collation.ts';
import { isPlainObject } from '../codec/kinds.ts';
import type { RelationPlan } from '../protocol/relation-protocol.ts';
import type { Plan } from '../query/plan/plan.ts';
import { prefixInterval } from '../query/plan/prefix.ts';

/** A query, and what `explain` counted. */
export interface QueryCost {
  readonly collection: string;
  /** The criteria; a function gives no advice, as no index serves it. */
  readonly params: unknown;
  readonly sort?: object | undefined;
  /** The index gets it too: it serves queries of its own collation alone. @default none */
  readonly collation?: Collation | undefined;
  readonly plan: Plan;
  readonly documents_examined: number;
  readonly returned: number;
  /** How often it ran. @default 1 */
  readonly runs?: number | undefined;
  /** The fields of each index of this collation that the collection has. @default none */
  readonly indexes?: readonly (readonly string[])[] | undefined;
  /** Equal values that all runs had, and the share of documents that have them. @default none */
  readonly constant?: ConstantValues | undefined;
  /** Paths that hold arrays in some document: they need a `multi` index. @default none */
  readonly arrays?: ReadonlySet<string> | undefined;
}

/** Values that a query always asks for, such as `{ state: 'open' }`. */
export interface ConstantValues {
  readonly where: Readonly<Record<string, unknown>>;
  /** From 0 to 1. */
  readonly share: number;
}

/** An index to declare, and why. */
export interface IndexAdvice {
  readonly collection: string;
  /** For the option `indexes` of the collection. */
  readonly index: {
    readonly fields: string | readonly string[];
    readonly multi?: true;
    /** Of a partial index: most documents would not be in it. */
    readonly where?: ConstantValues['where'];
    readonly collation?: Collation;
  };
  /** Such as "14,000 documents examined for 20: declare { fields: ['region', 'age'] }". */
  readonly message: string;
  /** Of all runs of its queries. */
  readonly documents_examined: number;
  readonly returned: number;
}

/** Fewer documents are examined in no time: an index would cost more than it saves. */
const FEW = 200;
/** Documents examined for each one returned that are worth an index. */
const WASTEFUL = 5;
/** The share of documents up to which an index of them alone is advised. */
const MINOR = 0.5;

interface Draft {
  readonly collection: string;
  readonly fields: readonly string[];
  readonly multi: boolean;
  readonly constant: ConstantValues | undefined;
  readonly collation: Collation | undefined;
  readonly documents_examined: number;
  readonly returned: number;
  /** Of its most expensive query. */
  readonly worst: readonly [examined: number, returned: number];
}

/**
 * Advises indexes for queries that examine many documents for few results. The fields that must
 * equal a value come first, then those of the sort order, then one with a range. Advice whose
 * fields begin another one is part of that.
 *
 * @returns the advice, the most documents examined first.
 *
 * @example
 * ```ts
 * const { plan, documents_examined, returned } = await users.explain({ region: 'north' });
 * const params = { region: 'north' };
 * adviseIndexes([{ collection: 'users', params, plan, documents_examined, returned }]);
 * ```
 */
export function adviseIndexes(costs: readonly QueryCost[]): IndexAdvice[] {
  const drafts = merged(costs.filter(isWasteful).flatMap(draftsOf));
  return drafts
    .sort((a, b) => b.documents_examined - a.documents_examined)
    .map(({ collection, documents_examined, returned, worst, ...draft }) => {
      const index = indexOf(draft);
      const [examined, found] = worst.map((count) => count.toLocaleString('en'));
      const declare = `${examined} documents examined for ${found}: declare ${declarationOf(index)}`;
      const percent = Math.ceil((draft.constant?.share ?? 1) * 100);
      const message = index.where ? `${declare}, which has ${percent} % of the documents` : declare;
      return { collection, index, message, documents_examined, returned };
    });
}

/** The costs of partners found by a path that has no index, for {@link adviseIndexes}. */
export function costsOfRelations(
  relations: readonly RelationPlan[] = [],
  runs?: number,
): readonly QueryCost[] {
  return relations.flatMap(({ collection, missing_index: path, plan, ...counts }) => {
    if (path === undefined) return [];
    const { documents_examined, returned } = counts;
    // Any value: partners are found by an equal one.
    return { collection, params: { [path]: '' }, plan, documents_examined, returned, runs };
  });
}

type Declared = Pick<Draft, 'fields' | 'multi' | 'constant' | 'collation'>;

function indexOf({ fields, multi, constant, collation }: Declared) {
  const where = multi ? undefined : constant?.where;
  const varying = fields.filter((field) => !(where && Object.hasOwn(where, field)));
  const kept = varying.length > 0 ? varying : fields;
  return {
    fields: kept.length === 1 ? (kept[0] as string) : kept,
    ...(multi && ({ multi: true } as const)),
    ...(where && { where }),
    ...(collation !== undefined && { collation }),
  };
}

function declarationOf({ fields, multi, where, collation }: IndexAdvice['index']): string {
  const quoted = [fields].flat().map(quote);
  const list = typeof fields === 'string' ? quoted[0] : `[${quoted.join(', ')}]`;
  const partial = where ? `, where: ${printed(where)}` : '';
  const collated = collation === undefined ? '' : `, collation: ${printed(collation)}`;
  return `{ fields: ${list}${multi ? ', multi: true' : ''}${partial}${collated} }`;
}

function printed(value: unknown): string {
  if (typeof value === 'string') return quote(value);
  if (!isPlainObject(value)) return String(value);
  const fields = Object.entries(value).map(
    ([key, one]) => `${/^\w+$/.test(key) ? key : quote(key)}: ${printed(one)}`,
  );
  return `{ ${fields.join(', ')} }`;
}

function quote(text: string): string {
  return `'${text.replaceAll(/[\\']/g, '\\$&')}'`;
}

function isWasteful({ documents_examined: examined, returned }: QueryCost): boolean {
  return examined >= FEW && examined >= WASTEFUL * Math.max(1, returned);
}

const RANGES: ReadonlySet<string> = new Set(['$gt', '$gte', '$lt', '$lte']);

function draftsOf(cost: QueryCost): Draft[] {
  const { collection, params, sort, documents_examined: examined, returned, runs = 1 } = cost;
  if (!isPlainObject(params)) return [];
  const { indexes = [], arrays = new Set<string>(), collation } = cost;
  const sorted = isPlainObject(sort) ? Object.entries(sort) : [];
  return indexesFor(termsOf(params), sorted, arrays).flatMap(({ fields, multi }) => {
    const exists = indexes.some(
      (own) => own.length >= fields.length && fields.every((field, index) => own[index] === field),
    );
    if (exists) return [];
    const isMinor = cost.constant && cost.constant.share <= MINOR;
    return {
      ...{ collection, fields, multi, collation, returned: returned * runs },
      constant: isMinor ? cost.constant : undefined,
      documents_examined: examined * runs,
      worst: [examined, returned] as const,
    };
  });
}

type Wanted = Pick<Draft, 'fields' | 'multi'>;

function indexesFor(
  { equal, several, ranges, inArrays, branches }: Terms,
  sort: readonly (readonly [string, unknown])[],
  arrays: ReadonlySet<string>,
): Wanted[] {
  const isArray = (path: string) => arrays.has(path) || inArrays.has(path);
  const plain = (paths: Iterable<string>) => [...paths].filter((path) => !isArray(path));
  // Only one direction: an index is read forwards or backwards as a whole.
  const isOneWay = new Set(sort.map(([, direction]) => direction)).size === 1;
  const order = isOneWay ? sort.map(([path]) => path) : [];
  const isSortable = order.every((path) => !isArray(path) && path !== '_id');
  const fields = new Set([...plain(equal), ...(isSortable ? order : [])]);
  // A list of values or a range ends what an index can narrow down: one of them, as the last.
  const last = plain([...several, ...ranges]).find((path) => !fields.has(path));
  if (last !== undefined) fields.add(last);
  if (fields.size > 0) return [{ fields: [...fields], multi: false }];
  const array = [...equal, ...several, ...ranges].find(isArray);
  if (array !== undefined) return [{ fields: [array], multi: true }];
  const each = branches.map((branch) => indexesFor(branch, [], arrays));
  // `$or` needs an index for each branch.
  return each.every((wanted) => wanted.length > 0) ? each.flat() : [];
}

/** Adds up equal drafts, and those whose fields begin another's. */
function merged(drafts: readonly Draft[]): Draft[] {
  const byLength = [...drafts].sort((a, b) => b.fields.length - a.fields.length);
  const kept: Draft[] = [];
  for (const draft of byLength) {
    const at = kept.findIndex((other) => isServedBy(draft, other));
    const other = kept[at];
    if (other) kept[at] = sumOf(other, draft);
    else kept.push(draft);
  }
  return kept;
}

function isServedBy(draft: Draft, other: Draft): boolean {
  return (
    draft.collection === other.collection &&
    draft.multi === other.multi &&
    isSame(draft.constant?.where, other.constant?.where) &&
    isSame(draft.collation, other.collation) &&
    draft.fields.every((field, index) => other.fields[index] === field)
  );
}

function isSame(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

function sumOf(a: Draft, b: Draft): Draft {
  return {
    ...a,
    documents_examined: a.documents_examined + b.documents_examined,
    returned: a.returned + b.returned,
    worst: a.worst[0] >= b.worst[0] ? a.worst : b.worst,
  };
}

/** The paths of criteria that an index can serve, in the order of the criteria. */
interface Terms {
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

function termsOf(criteria: Readonly<Record<string, unknown>>): Terms {
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
