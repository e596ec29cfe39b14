import { createCollection } from '@tanstack/db';
import { expectTypeOf, test } from 'vitest';
import { connect } from '../../src/index.ts';
import { cairnCollectionOptions } from '../../src/tanstack/index.ts';

const db = connect({ name: 'types' });
const documents = new db.Collection<{ item: string; price?: number }>({
  name: 'orders',
  type: 'DOCUMENT_BASED',
  indicate_created_at: true,
});

test('rows are documents, and a new one needs its _id alone', () => {
  const orders = createCollection(cairnCollectionOptions({ collection: documents }));
  const row = orders.get('a');
  expectTypeOf(row?.item).toEqualTypeOf<string | undefined>();
  expectTypeOf(row?._created_at).toEqualTypeOf<Date | undefined>();
  orders.insert({ _id: 'a', item: 'lamp' });
  // @ts-expect-error without an id
  orders.insert({ item: 'lamp' });
  // @ts-expect-error a wrong kind
  orders.insert({ _id: 'a', item: 1 });
  expectTypeOf(orders.utils.collection.name).toEqualTypeOf<string>();
  // @ts-expect-error the key is the _id
  cairnCollectionOptions({ collection: documents, getKey: () => 'a' });
  // @ts-expect-error no such path
  cairnCollectionOptions({ collection: documents, criteria: { prise: 1 } });
});
