import { type } from 'arktype';
import { Schema } from 'effect';
import * as v from 'valibot';
import { expectTypeOf, test } from 'vitest';
import { z } from 'zod';
import { Database, type DocumentOf, type Stored, type ValueError } from '../../src/index.ts';
import { replicate } from '../../src/replication/index.ts';

const db = new Database({ name: 'types', storage: 'memory' });
const person = z.object({
  name: z.string(),
  age: z.number().default(18),
  tags: z.array(z.string()),
});
interface Person {
  name: string;
  age: number;
  tags: string[];
}

test('documents have the output of the schema, and the stamps of the options', () => {
  const people = new db.Collection({
    name: 'people',
    type: 'DOCUMENT_BASED',
    schema: person,
    indicate_created_at: true,
    indicate_edited_timestamp: true,
    indexes: ['name'],
  });
  type Found = Stored<Person, '_created_at' | '_updated_timestamp'>;
  expectTypeOf<DocumentOf<typeof people>>().toExtend<Found>();
  expectTypeOf<Found>().toExtend<DocumentOf<typeof people>>();
  expectTypeOf(people.get('a')).resolves.toExtend<Found | undefined>();
  expectTypeOf(people.find({}, { select: ['age'] })).resolves.toExtend<
    { _id: string; age: number } | undefined
  >();
});

test('what goes in has the input of the schema', () => {
  const people = new db.Collection({ name: 'people', type: 'DOCUMENT_BASED', schema: person });
  void people.insert({ name: 'Ada', tags: [] });
  void people.insert({ _id: 'ada', name: 'Ada', age: 36, tags: [] });
  void people.insertMany([{ name: 'Ada', tags: [] }]);
  void people.upsert({ _id: 'ada', name: 'Ada', tags: [] });
  void people.update('ada', { name: 'Ada', tags: [] });
  void people.modify('ada', ({ name, tags }) => ({ name, tags }));
  void people.modify('ada', (found) => ({ ...found, age: found.age + 1 }));
  void db.transaction((tx) => tx(people).insert({ name: 'Ada', tags: [] }));
  void replicate(people, { remote: undefined as never });
  // @ts-expect-error: without a name
  void people.insert({ tags: [] });
  // @ts-expect-error: no number
  void people.insert({ name: 'Ada', age: '36', tags: [] });
});

test('criteria, sort, select and changes are checked against the output', () => {
  const people = new db.Collection({ name: 'people', type: 'DOCUMENT_BASED', schema: person });
  void people.filter({ age: { $gte: 18 }, tags: 'a' }, { sort: { age: 1 }, select: ['name'] });
  void people.patch('a', { $inc: { age: 1 }, $push: { tags: 'b' } });
  // @ts-expect-error: no such field
  void people.filter({ agee: 1 });
  // @ts-expect-error: no such field
  void people.filter({}, { sort: { agee: 1 } });
  // @ts-expect-error: no such field
  void people.filter({}, { select: ['agee'] });
  // @ts-expect-error: no number
  void people.patch('a', { $inc: { name: 1 } });
  // @ts-expect-error: no such field
  void people.patch('a', { agee: 1 });
});

test('each library', () => {
  const own = { name: 'people', type: 'DOCUMENT_BASED' } as const;
  const valibot = v.object({ name: v.string(), age: v.optional(v.number(), 18) });
  const ark = type({ name: 'string', age: 'number = 18' });
  const effect = Schema.standardSchemaV1(
    Schema.Struct({
      name: Schema.String,
      age: Schema.optionalWith(Schema.Number, { default: () => 18 }),
    }),
  );
  type Two = Stored<{ name: string; age: number }>;
  const ofValibot = new db.Collection({ ...own, schema: valibot });
  const ofArk = new db.Collection({ ...own, schema: ark });
  const ofEffect = new db.Collection({ ...own, schema: effect });
  for (const people of [ofValibot, ofArk, ofEffect]) void people.insert({ name: 'Ada' });
  expectTypeOf(ofValibot.insert({ name: 'Ada' })).resolves.toEqualTypeOf<Two>();
  expectTypeOf(ofArk.insert({ name: 'Ada' })).resolves.toEqualTypeOf<Two>();
  expectTypeOf(ofEffect.insert({ name: 'Ada' })).resolves.toExtend<Two>();
});

test('options known at run time, and values', () => {
  const indicate = Boolean(Date.now());
  const people = new db.Collection({
    name: 'people',
    type: 'DOCUMENT_BASED',
    schema: person,
    indicate_created_at: indicate,
  });
  expectTypeOf<DocumentOf<typeof people>['_created_at']>().toEqualTypeOf<Date | undefined>();
  const values = new db.Collection({ name: 'v', type: 'KEY_VALUE_BASED', schema: person });
  expectTypeOf(values.get('ada')).resolves.toEqualTypeOf<Person | undefined>();
});

test('mistakes in the options', () => {
  const own = { name: 'people', type: 'DOCUMENT_BASED' } as const;
  // @ts-expect-error: no schema
  new db.Collection({ ...own, schema: 5 });
  // @ts-expect-error: it does not accept the number that it returns
  new db.Collection({ ...own, schema: z.object({ at: z.string().transform(Number) }) });
  // @ts-expect-error: no such option
  new db.Collection({ ...own, schema: person, indexs: [] });
  new db.Collection({
    ...own,
    schema: z.object({ at: z.union([z.date(), z.string().transform((text) => new Date(text))]) }),
  });
});

test('issues of an error', () => {
  expectTypeOf<NonNullable<ValueError['issues']>[number]>().toEqualTypeOf<{
    readonly path: readonly (string | number)[];
    readonly message: string;
  }>();
});
