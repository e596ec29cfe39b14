import { describe, expectTypeOf, test } from 'vitest';
import { Database, type DeepReadonly, type Read, type Stored } from '../../src/index.ts';

interface Person {
  name: string;
  tags: string[];
  home: { city: string };
  seen: Map<string, { at: Date }>;
}

const db = new Database({ name: 'types' });
const people = new db.Collection<Person>({
  name: 'people',
  type: 'DOCUMENT_BASED',
  shared_documents: true,
  indicate_created_at: true,
});
const ada: Person = { name: 'Ada', tags: [], home: { city: 'London' }, seen: new Map() };
type Ada = DeepReadonly<Stored<Person, '_created_at'>>;

describe('shared_documents', () => {
  test('reads return what is read-only on every level', async () => {
    const found = (await people.get('a')) as NonNullable<Awaited<ReturnType<typeof people.get>>>;
    expectTypeOf(found).toMatchTypeOf<Ada>();
    expectTypeOf(found.tags).toEqualTypeOf<readonly string[]>();
    expectTypeOf(found._created_at).toEqualTypeOf<Date>();
    expectTypeOf(found.seen.get('a')).toEqualTypeOf<{ readonly at: Date } | undefined>();
    // @ts-expect-error read-only
    found.name = 'Bo';
    // @ts-expect-error read-only
    found.home.city = 'Oslo';
    // @ts-expect-error no such method
    found.tags.push('a');
    const [first] = await people.filter({ name: 'Ada' });
    expectTypeOf(first?.tags).toEqualTypeOf<readonly string[] | undefined>();
    const [selected] = await people.filter({}, { select: ['tags'] });
    expectTypeOf(selected?.tags).toEqualTypeOf<readonly string[] | undefined>();
    const live = people.liveDocument('a').getSnapshot().data;
    expectTypeOf(live?.tags).toEqualTypeOf<readonly string[] | undefined>();
    expectTypeOf(people.sync.get('a')?.tags).toEqualTypeOf<readonly string[] | undefined>();
    for await (const each of people) expectTypeOf(each.tags).toEqualTypeOf<readonly string[]>();
  });

  test('writes and transactions return what belongs to the caller', async () => {
    expectTypeOf((await people.insert(ada)).tags).toEqualTypeOf<string[]>();
    expectTypeOf((await people.patch('a', { name: 'Bo' }))?.tags).toEqualTypeOf<
      string[] | undefined
    >();
    await db.transaction(async (tx) => {
      expectTypeOf((await tx(people).get('a'))?.tags).toEqualTypeOf<string[] | undefined>();
    });
  });

  test('what was read can be stored again', async () => {
    const found = await people.get('a');
    if (found) people.update('a', { ...found, name: 'Bo' });
    people.upsert({ ...ada, tags: ['a'] as readonly string[] });
    // @ts-expect-error fields are missing
    people.insert({ name: 'Ada' });
  });

  test('false, and left out, is the same', () => {
    const plain = new db.Collection<Person>({
      name: 'people',
      type: 'DOCUMENT_BASED',
      shared_documents: false,
    });
    expectTypeOf(plain.get('a')).resolves.toEqualTypeOf<Stored<Person> | undefined>();
    expectTypeOf<Read<Person>>().toEqualTypeOf<Stored<Person>>();
  });

  test('is no option of key-value collections', () => {
    const make = () =>
      // @ts-expect-error no such option
      new db.Collection({ name: 'v', type: 'KEY_VALUE_BASED', shared_documents: true });
    expectTypeOf(make).toBeFunction();
  });
});
