import { compileCriteria } from '../../../src/query/criteria/compile-criteria.ts';
import type { IndexDefinition } from '../../../src/query/index/index-definition.ts';
import type { IndexKey } from '../../../src/query/index/index-key.ts';
import { SecondaryIndex } from '../../../src/query/index/secondary-index.ts';
import type { Plan } from '../../../src/query/plan/plan.ts';
import { planQuery } from '../../../src/query/plan/plan-query.ts';
import { type PageEnd, PlanReader } from '../../../src/query/plan/plan-reader.ts';
import { compileSort } from '../../../src/query/sort/compile-sort.ts';
import '../../setup/rare-operators.ts';

export type Fields = Record<string, unknown>;

export interface Entry {
  readonly rank: number;
  readonly document: Fields;
}

export interface Query {
  readonly criteria: Fields;
  readonly sort?: Fields | undefined;
  readonly skip?: number;
  readonly limit?: number | undefined;
  readonly collation?: string | undefined;
  readonly archived?: boolean | 'only' | undefined;
}

export function definition(
  fields: string | readonly string[],
  multi = false,
  collation?: string,
  where?: Fields,
): IndexDefinition {
  const list = typeof fields === 'string' ? [fields] : fields;
  const part = where ? ` where ${JSON.stringify(where)}` : '';
  const name = `${list.join()}${multi ? '[]' : ''}${collation ? ` (${collation})` : ''}${part}`;
  return { name, fields: list, unique: false, multi, collation, where };
}

/** Indexed documents, queried by plan and, as the oracle, by a scan. */
export class IndexedWorld {
  readonly entries = new Map<string, Entry>();
  readonly indexes = new Map<string, SecondaryIndex<Entry>>();
  #lastOrder = 0;

  constructor(definitions: readonly IndexDefinition[], documents: readonly Fields[] = []) {
    for (const each of definitions) this.indexes.set(each.name, new SecondaryIndex(each));
    for (const document of documents) this.#enter(document);
    // As loaded from storage: in any order, with cloned keys.
    const loaded = [...this.entries.values()].sort(
      (a, b) => ((a.rank * 7) % 5) - ((b.rank * 7) % 5),
    );
    for (const index of this.indexes.values()) {
      const keys: IndexKey[] = loaded.map(({ document }) => index.read(document));
      index.load([...loaded], structuredClone(keys));
    }
  }

  #enter(document: Fields): Entry {
    const rank = ++this.#lastOrder;
    const entry = { rank, document: { _id: `id${rank}`, ...document } };
    this.entries.set(entry.document._id as string, entry);
    return entry;
  }

  insert(document: Fields): void {
    const entry = this.#enter(document);
    for (const index of this.indexes.values()) index.add(entry, index.read(entry.document));
  }

  update(id: string, document: Fields): void {
    const before = this.entries.get(id);
    if (!before) return;
    const after = { rank: before.rank, document: { _id: id, ...document } };
    this.entries.set(id, after);
    for (const index of this.indexes.values()) {
      index.replace(before, after, index.read(before.document), index.read(after.document));
    }
  }

  delete(id: string): void {
    const entry = this.entries.get(id);
    if (!entry) return;
    this.entries.delete(id);
    for (const index of this.indexes.values()) index.remove(entry, index.read(entry.document));
  }

  plan({ criteria, sort, skip = 0, limit, collation, archived }: Query): Plan {
    const order = sort && compileSort(sort, collation);
    const wanted = limit === undefined ? undefined : skip + limit;
    return planQuery({
      ...{ criteria, order, collation, archived },
      indexes: this.indexes,
      documents: this.entries.size,
      limit: wanted,
    });
  }

  /** The candidates of a plan, before tests and sort. */
  candidates(plan: Plan, { sort, collation }: Partial<Query> = {}, from?: PageEnd): Entry[] {
    if (plan.kind === 'scan') return [...this.entries.values()].sort(byRank);
    const reader = new PlanReader(plan, {
      indexes: this.indexes,
      byId: (id) => this.entries.get(id),
      order: sort && compileSort(sort, collation),
      from,
    });
    const found: Entry[] = [];
    for (let entry = reader.next(); entry; entry = reader.next()) found.push(entry);
    return found;
  }

  byPlan(query: Query, plan = this.plan(query)): string[] {
    const { test } = compileCriteria(query.criteria, query.collation);
    const found = this.candidates(plan, query);
    const matches = plan.exact ? found : found.filter(({ document }) => test(document));
    return page(plan.ordered ? matches : sorted(matches, query), query);
  }

  byScan(query: Query): string[] {
    const { test } = compileCriteria(query.criteria, query.collation);
    const matches = [...this.entries.values()].filter(({ document }) => test(document));
    return page(sorted(matches, query), query);
  }
}

function page(entries: readonly Entry[], { skip = 0, limit }: Query): string[] {
  return entries
    .slice(skip, limit === undefined ? undefined : skip + limit)
    .map(({ document }) => document._id as string);
}

function sorted(entries: readonly Entry[], { sort, collation }: Query): Entry[] {
  const order = sort && compileSort(sort, collation);
  return entries.toSorted(
    (a, b) => order?.compare(order.keyOf(a.document), order.keyOf(b.document)) || byRank(a, b),
  );
}

function byRank(a: Entry, b: Entry): number {
  return a.rank - b.rank;
}
