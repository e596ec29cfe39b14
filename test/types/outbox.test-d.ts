import { expectTypeOf, test } from 'vitest';
import { connect } from '../../src/index.ts';
import { outbox, type QueuedCall } from '../../src/outbox/index.ts';

interface Order {
  _id: string;
  item: string;
}

const db = connect({ name: 'shop' });
const orders = new db.Collection<Order>({ name: 'orders', type: 'DOCUMENT_BASED' });

test('the input of an action is that of its functions', () => {
  const { actions } = outbox(db, {
    byLocal: {
      local: (tx, order: Order) => tx(orders).insert(order),
      send: (order, { key, signal }) => fetch(`/orders/${order._id}/${key}`, { signal }),
    },
    bySend: { send: async (count: number, { key }) => console.log(count, key) },
    without: { local: (tx) => tx(orders).deleteMany({}), send: () => fetch('/clear') },
  });
  expectTypeOf(actions.byLocal).parameters.toEqualTypeOf<[input: Order]>();
  expectTypeOf(actions.bySend).parameters.toEqualTypeOf<[input: number]>();
  expectTypeOf(actions.without).toBeCallableWith();
  expectTypeOf(actions.byLocal).returns.toEqualTypeOf<Promise<QueuedCall>>();
  // @ts-expect-error no such action
  actions.other;
});

test('functions of one action agree about the input', () => {
  outbox(db, {
    order: {
      local: (tx, order: Order) => tx(orders).insert(order),
      // @ts-expect-error the input is an order
      send: async (count: number) => console.log(count),
    },
  });
});
