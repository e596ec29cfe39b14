import { describe, expectTypeOf, test } from 'vitest';
import type { ComputedRef } from 'vue';
import { ref } from 'vue';
import * as react from '../../src/bindings/react/index.ts';
import * as solid from '../../src/bindings/solid/index.ts';
import * as svelte from '../../src/bindings/svelte/index.ts';
import * as vue from '../../src/bindings/vue/index.ts';
import type { DocumentCollection, KeyValueCollection, Related, Stored } from '../../src/index.ts';

interface Person {
  name: string;
  age: number;
  home: { city: string };
}

declare const people: DocumentCollection<Person, '_created_at'>;
declare const values: KeyValueCollection<number>;
type Found = Stored<Person, '_created_at'>;
/** Of a schema with a default: what goes in may lack `age`. */
declare const lenient: DocumentCollection<
  Person,
  '_created_at',
  Omit<Person, 'age'> & { age?: number }
>;

test('hooks take a collection whose schema has defaults', () => {
  const { data } = react.useLiveQuery(lenient, { age: 1 }, { sort: { age: 1 } });
  expectTypeOf(data).toEqualTypeOf<readonly Found[] | undefined>();
  react.useLiveSuspenseQuery(lenient, {});
  react.useLiveCount(lenient, { age: 1 });
  react.useLivePages(lenient, {});
  expectTypeOf(react.useLiveDocument(lenient, 'a').data).toEqualTypeOf<Found | undefined>();
  expectTypeOf(react.useDraft(lenient, 'a').draft?.age).toEqualTypeOf<number | undefined>();
  vue.useLiveQuery(() => lenient, {});
  vue.useDraft(lenient, 'a');
  solid.useLiveQuery(lenient, {});
  svelte.useLiveQuery(() => lenient, {});
});

declare const related: DocumentCollection<
  { person_id: string },
  Related<{ person: typeof people; values: (typeof people)[] }>
>;

test('hooks of all frameworks give included documents', () => {
  const include = { person: true, values: { select: ['name'] } } as const;
  const { data } = react.useLiveQuery(related, {}, { include });
  expectTypeOf(data?.[0]?.person).toEqualTypeOf<Found | null | undefined>();
  expectTypeOf(data?.[0]?.values[0]?.name).toEqualTypeOf<string | undefined>();
  // @ts-expect-error not selected
  data?.[0]?.values[0]?.age;
  const one = react.useLiveDocument(related, 'a', { include: { person: true } });
  expectTypeOf(one.data?.person?.age).toEqualTypeOf<number | undefined>();
  const pages = react.useLivePages(related, {}, { include: { person: true } });
  expectTypeOf(pages.data?.[0]?.person?.name).toEqualTypeOf<string | undefined>();
  const { data: ofVue } = vue.useLiveQuery(() => related, {}, { include });
  expectTypeOf(ofVue.value?.[0]?.person?.name).toEqualTypeOf<string | undefined>();
  const ofSolid = solid.useLiveQuery(related, {}, { include });
  expectTypeOf(ofSolid.data()?.[0]?.person?.name).toEqualTypeOf<string | undefined>();
  const ofSvelte = svelte.useLiveQuery(() => related, {}, { include });
  expectTypeOf(ofSvelte.data?.[0]?.person?.name).toEqualTypeOf<string | undefined>();
});

describe('React', () => {
  test('infers the documents from the collection, and narrows by status', () => {
    const result = react.useLiveQuery(people, { age: { $gt: 1 } }, { sort: { 'home.city': 1 } });
    expectTypeOf(result).toEqualTypeOf<react.LiveResult<readonly Found[]>>();
    if (result.status === 'ready') expectTypeOf(result.data).toEqualTypeOf<readonly Found[]>();
    else expectTypeOf(result.data).toEqualTypeOf<readonly Found[] | undefined>();
    if (result.status === 'error') expectTypeOf(result.error).toEqualTypeOf<Error>();
    if (result.status === 'off') expectTypeOf(result.data).toEqualTypeOf<undefined>();
  });

  test('narrows by select', () => {
    const { data } = react.useLiveSuspenseQuery(people, {}, { select: ['home.city'] });
    expectTypeOf(data[0]!.home.city).toEqualTypeOf<string>();
    // @ts-expect-error not selected
    data[0]!.age;
    const pages = react.useLivePages(people, {}, { select: ['name'], page_size: 10 });
    expectTypeOf(pages.data?.[0]?.name).toEqualTypeOf<string | undefined>();
    expectTypeOf(pages.loadMore).toEqualTypeOf<() => void>();
  });

  test('checks criteria and options', () => {
    // @ts-expect-error no such field
    react.useLiveQuery(people, { wage: 1 });
    // @ts-expect-error no such path
    react.useLiveQuery(people, {}, { sort: { wage: 1 } });
    // @ts-expect-error params are required
    react.useLiveQuery(people);
    // @ts-expect-error pages have page_size
    react.useLivePages(people, {}, { limit: 2 });
    // @ts-expect-error a key-value collection
    react.useLiveQuery(values, {});
    // @ts-expect-error a collection of documents
    react.useLiveValue(people, 'a');
    // @ts-expect-error within Suspense there is no off
    react.useLiveSuspenseQuery(undefined, {});
    react.useLiveQuery(people, ({ age }) => age > 1, { key: 1, initial: [] });
    react.useLiveQuery(undefined as typeof people | undefined, { age: 1 });
  });

  test('other hooks', () => {
    expectTypeOf(react.useLiveDocument(people, 'a').data).toEqualTypeOf<Found | undefined>();
    react.useLiveDocument(people, undefined);
    const grouped = react.useLiveAggregate(people, [
      { $group: { _id: '$name', ages: { $sum: '$age' } } },
    ]);
    expectTypeOf(grouped.data?.[0]?._id).toEqualTypeOf<string | undefined>();
    expectTypeOf(grouped.data?.[0]?.ages).toEqualTypeOf<number | undefined>();
    interface Row {
      _id: string;
      teams: { name: string }[];
    }
    const stages = [
      { $lookup: { from: 'teams', localField: 'team', foreignField: '_id', as: 'teams' } },
    ] as const;
    const named = react.useLiveAggregate<Row>(people, stages, { archived: true });
    expectTypeOf(named.data).toEqualTypeOf<readonly Row[] | undefined>();
    expectTypeOf(react.useLiveAggregate<Row>(undefined, stages).data).toEqualTypeOf<
      readonly Row[] | undefined
    >();
    expectTypeOf(vue.useLiveAggregate<Row>(people, stages).data.value).toEqualTypeOf<
      readonly Row[] | undefined
    >();
    // @ts-expect-error no collection
    react.useLiveAggregate<Row>('people', stages);
    const hits = react.useLiveSearch(people, 'ada', { select: ['age'], highlight: true });
    expectTypeOf(hits.data?.[0]?.document.age).toEqualTypeOf<number | undefined>();
    // @ts-expect-error not selected
    hits.data?.[0]?.document.name;
    react.useLiveSearch(people, undefined);
    // @ts-expect-error not a text
    react.useLiveSearch(people, 1);
    expectTypeOf(react.useLiveCount(people).data).toEqualTypeOf<number | undefined>();
    expectTypeOf(react.useLiveValue(values, 'a').data).toEqualTypeOf<number | undefined>();
    const { draft, set, save } = react.useDraft(people, 'a');
    expectTypeOf(draft).toEqualTypeOf<Found | undefined>();
    expectTypeOf(save).returns.resolves.toEqualTypeOf<Found | undefined>();
    set({ name: 'Ada', home: { city: 'Oslo' } });
    // @ts-expect-error not a string
    set({ name: 1 });
    // @ts-expect-error managed by the database
    set({ _id: 'b' });
  });
});

test('Vue gives refs, and takes refs and getters', () => {
  const age = ref(1);
  const { data, status } = vue.useLiveQuery(people, () => ({ age: age.value }), { limit: 2 });
  expectTypeOf(data).toEqualTypeOf<ComputedRef<readonly Found[] | undefined>>();
  expectTypeOf(status.value).toEqualTypeOf<'off' | 'pending' | 'ready' | 'error'>();
  vue.useLiveDocument(people, ref('a'));
  const { set } = vue.useDraft(people, () => 'a');
  set({ age: 2 });
  // @ts-expect-error a predicate is no getter
  vue.useLiveQuery(people, ({ age }: Person) => age > 1);
  // @ts-expect-error no such field
  vue.useLiveQuery(people, { wage: 1 });
  expectTypeOf(
    vue.useLiveQuery(people, {}, { select: ['name'] }).data.value?.[0]?.name,
  ).toEqualTypeOf<string | undefined>();
});

test('criteria in getters are checked as those without', () => {
  {
    const { useLiveQuery, useLiveCount, useLivePages } = vue;
    useLiveQuery(people, () => ({ age: { $gt: 1 }, 'home.city': 'Oslo', $or: [{ name: 'Ada' }] }));
    useLiveQuery(people, () => (Math.random() > 0.5 ? { name: 'Ada' } : {}));
    useLiveQuery(people, () => (person) => person.age > 1);
    // @ts-expect-error no such field
    useLiveQuery(people, () => ({ age: 1, wage: 1 }));
    // @ts-expect-error not a number
    useLiveCount(people, () => ({ age: 'old' }));
    // @ts-expect-error no such field
    useLivePages(people, () => ({ wage: 1 }));
    // @ts-expect-error a predicate is no getter
    useLivePages(people, ({ age }: Person) => age > 1);
  }
  {
    const { useLiveQuery, useLiveCount, useLivePages } = solid;
    useLiveQuery(people, () => ({ age: { $gt: 1 }, 'home.city': 'Oslo', $or: [{ name: 'Ada' }] }));
    useLiveQuery(people, () => (Math.random() > 0.5 ? { name: 'Ada' } : {}));
    useLiveQuery(people, () => (person) => person.age > 1);
    // @ts-expect-error no such field
    useLiveQuery(people, () => ({ age: 1, wage: 1 }));
    // @ts-expect-error not a number
    useLiveCount(people, () => ({ age: 'old' }));
    // @ts-expect-error no such field
    useLivePages(people, () => ({ wage: 1 }));
    // @ts-expect-error a predicate is no getter
    useLivePages(people, ({ age }: Person) => age > 1);
  }
  {
    const { useLiveQuery, useLiveCount, useLivePages } = svelte;
    useLiveQuery(people, () => ({ age: { $gt: 1 }, 'home.city': 'Oslo', $or: [{ name: 'Ada' }] }));
    useLiveQuery(people, () => (Math.random() > 0.5 ? { name: 'Ada' } : {}));
    useLiveQuery(people, () => (person) => person.age > 1);
    // @ts-expect-error no such field
    useLiveQuery(people, () => ({ age: 1, wage: 1 }));
    // @ts-expect-error not a number
    useLiveCount(people, () => ({ age: 'old' }));
    // @ts-expect-error no such field
    useLivePages(people, () => ({ wage: 1 }));
    // @ts-expect-error a predicate is no getter
    useLivePages(people, ({ age }: Person) => age > 1);
  }
});

test('Solid gives accessors, and takes accessors', () => {
  const { data, is_stale } = solid.useLiveQuery(people, () => ({ age: 1 }));
  expectTypeOf(data).returns.toEqualTypeOf<readonly Found[] | undefined>();
  expectTypeOf(is_stale).returns.toEqualTypeOf<boolean>();
  expectTypeOf(solid.useLivePages(people, {}).loadMore).toEqualTypeOf<() => void>();
  expectTypeOf(solid.useLiveCount(() => people, {}).data).returns.toEqualTypeOf<
    number | undefined
  >();
});

test('Svelte gives getters, and narrows `current`', () => {
  const list = svelte.useLiveQuery(people, () => ({ age: 1 }));
  expectTypeOf(list.data).toEqualTypeOf<readonly Found[] | undefined>();
  const { current } = list;
  if (current.status === 'ready') expectTypeOf(current.data).toEqualTypeOf<readonly Found[]>();
  expectTypeOf(svelte.useLiveValue(values, () => 'a').data).toEqualTypeOf<number | undefined>();
});
