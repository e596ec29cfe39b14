import type { Coroutine } from '../../async/coroutine.ts';
import type { Pace } from '../../async/pace.ts';
import { CriteriaError } from '../../errors/errors.ts';
import type {
  IncludeAsk,
  RelatedCondition,
  RelationPlan,
} from '../../protocol/relation-protocol.ts';
import type { Plan } from '../../query/plan/plan.ts';
import { planQuery } from '../../query/plan/plan-query.ts';
import { isFields } from '../../query/value/value-type.ts';
import type { OperationContext } from '../collection-context.ts';
import { DocumentQuery } from '../find/query.ts';
import { both, findPartners, joinedValues, valuesOfQuery } from './find-partners.ts';
import type { RelatedReading } from './reading.ts';

type Criteria = Readonly<Record<string, unknown>>;

/** Where conditions find partners. */
type Partners = Pick<RelatedReading, 'contextOf' | 'plans'>;

/** The documents that are asked, for the choice of the side to begin with. */
interface Documents {
  /** What they fulfil besides. */
  readonly criteria: object;
  readonly archived: boolean | 'only';
  readonly collation: string | undefined;
}

/**
 * Replaces the conditions on partners in criteria by conditions on the documents themselves: those
 * whose value at `from` is one of the partners' values at `to`. What plans and tests criteria need
 * not know of relations.
 */
export function* resolveCriteria(
  reading: Partners,
  context: OperationContext,
  criteria: object,
  pace: Pace,
  documents?: Omit<Documents, 'criteria'>,
): Coroutine<object> {
  const resolved: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(criteria)) {
    if (key === '$and' && documents) {
      const others = plainOf(criteria as Criteria);
      const list: object[] = [];
      for (const each of value as readonly object[])
        list.push(
          yield* resolveCriteria(reading, context, each, pace, {
            ...documents,
            criteria: others,
          } as Documents),
        );
      resolved.$and = list;
    } else if (key === '$and' || key === '$or' || key === '$nor') {
      const list: object[] = [];
      for (const each of value as readonly object[])
        list.push(yield* resolveCriteria(reading, context, each, pace));
      resolved[key] = list;
    } else if (key === '$related') {
      const condition = value as RelatedCondition;
      const values = yield* valuesOf(reading, context, condition, pace, documents as Documents);
      const among = { [condition.from]: { $in: values } };
      // Alone in its object.
      return condition.isNone ? { $nor: [among] } : among;
    } else resolved[key] = value;
  }
  return resolved;
}

/** The conjuncts of criteria that ask for no partners. */
function plainOf({ $and = [], ...rest }: Criteria): object {
  const plain = ($and as readonly object[]).filter((each) => !asksPartners(each));
  const own = Object.fromEntries(
    Object.entries(rest).filter(([key, value]) => !asksPartners({ [key]: value })),
  );
  return plain.length > 0 ? { ...own, $and: plain } : own;
}

function asksPartners(criteria: unknown): boolean {
  if (Array.isArray(criteria)) return criteria.some(asksPartners);
  if (!isFields(criteria)) return false;
  return Object.entries(criteria).some(
    ([key, value]) => key === '$related' || (/^\$(?:and|or|nor)$/.test(key) && asksPartners(value)),
  );
}

export function partnersIn(criteria: unknown): number[] {
  if (Array.isArray(criteria)) return criteria.flatMap(partnersIn);
  if (!isFields(criteria)) return [];
  return Object.entries(criteria).flatMap(([key, value]) => {
    if (/^\$(?:and|or|nor)$/.test(key)) return partnersIn(value);
    if (key !== '$related') return [];
    const { partner, criteria: own } = value as RelatedCondition;
    return [partner, ...partnersIn(own)];
  });
}

/** The values at `to` of the partners that match. */
function* valuesOf(
  reading: Partners,
  context: OperationContext,
  { partner: number, name, from, to, criteria: asked, isNone }: RelatedCondition,
  pace: Pace,
  documents: Documents | undefined,
): Coroutine<unknown[]> {
  const partner = reading.contextOf(number);
  const criteria = yield* resolveCriteria(reading, partner, asked, pace);
  const note = (
    query: DocumentQuery | undefined,
    returned: number,
    first: RelationPlan['first'],
  ) => {
    const use = isNone ? '$none' : '$some';
    if (query) reading.plans.push({ ...planOf(partner, query, to, name), use, returned, first });
  };
  if (documents?.criteria && isFewer(context, documents, partner, criteria, to)) {
    const found = yield* new DocumentQuery(context, documents, pace).records();
    const values = yield* joinedValues(context, found, from, pace);
    const ask = { to, criteria, archived: false };
    const { byValue, query, places } = yield* findPartners(partner, ask, values, pace);
    note(query, places.size, 'documents');
    return byValue.values;
  }
  const query = new DocumentQuery(partner, { criteria }, pace);
  const { values, count } = yield* valuesOfQuery(partner, query, to);
  note(query, count, 'partners');
  return values;
}

/** Whether documents by their other criteria are fewer than partners, so come first. */
function isFewer(
  context: OperationContext,
  documents: Documents,
  partner: OperationContext,
  criteria: object,
  to: string,
): boolean {
  const candidates = estimate(context, documents);
  const lookedUp = both({ [to]: { $in: [''] } }, criteria);
  const isIndexed =
    planOfCriteria(partner, { criteria: lookedUp, archived: false }).kind !== 'scan';
  return isIndexed && candidates * 4 < estimate(partner, { criteria, archived: false });
}

type Asked = Pick<Documents, 'criteria' | 'archived'> & Partial<Documents>;

export function planOfCriteria(
  { indexes, records }: OperationContext,
  { criteria, archived, collation }: Asked,
): Plan {
  return planQuery({
    ...{ criteria, archived, collation },
    indexes: indexes.byName,
    documents: records.total,
  });
}

/** About how many documents have to be looked at. */
function estimate(context: OperationContext, asked: Asked): number {
  const count = (plan: Plan): number => {
    switch (plan.kind) {
      case 'scan':
        return context.records.list().length;
      case 'ids':
        return plan.ids.length;
      case 'union':
        return plan.branches.reduce((sum, branch) => sum + count(branch), 0);
      case 'index': {
        const index = context.indexes.byName.get(plan.index);
        return plan.ranges.reduce((sum, range) => sum + (index?.estimate(range) ?? 0), 0);
      }
    }
  };
  return count(planOfCriteria(context, asked));
}

/** How a query of partners was answered. */
export function planOf(
  { settings, indexes }: OperationContext,
  { plan, candidates }: DocumentQuery,
  to: string,
  relation: string,
): Omit<RelationPlan, 'use' | 'returned'> {
  const hasIndex =
    to === '_id' ||
    [...indexes.byName.values()].some(({ definition }) => definition.fields[0] === to);
  return {
    relation,
    collection: settings.name,
    plan,
    keys_examined: candidates.keys,
    documents_examined: candidates.documents,
    ...(!hasIndex && { missing_index: to }),
  };
}

/**
 * Refuses an order by what an include shows: the documents have no such field, so they would come
 * unsorted. A relation that takes the place of the field with its ids is another matter.
 *
 * @throws {CriteriaError} `sort_invalid`
 */
export function refuseSortByPartners(
  includes: readonly IncludeAsk[],
  sort: object = {},
  within = '',
): void {
  for (const { name, from, include, sort: inner } of includes) {
    const isOf = (path: string) => `${path}.`.startsWith(`${name}.`);
    const path = isOf(from) ? undefined : Object.keys(sort).find(isOf);
    if (path !== undefined) {
      const place = `${within}sort.${path}`;
      throw new CriteriaError(
        'sort_invalid',
        `'${place}' is a path of the relation "${name}", and a sort takes fields of the documents themselves. Sort by partners in a pipeline: aggregate([{ $lookup: … }, { $sort: … }]).`,
        { place },
      );
    }
    refuseSortByPartners(include, inner, `${within}include.${name}.`);
  }
}
