// What `tools/type-cost.mjs` measures of schemas: three collections, what Zod infers included.
// Change the budget with it.
import { test } from 'vitest';
import { z } from 'zod';
import { Database } from '../../src/index.ts';

const address = z.object({ street: z.string(), zip: z.string(), city: z.string() });
const line = z.object({ sku: z.string(), amount: z.number().default(1), price: z.number() });
const order = z.object({
  number: z.number(),
  state: z.enum(['open', 'paid', 'sent']).default('open'),
  placed_at: z.date(),
  tags: z.array(z.string()).default([]),
  note: z.string().optional(),
  billing: address,
  delivery: address.optional(),
  lines: z.array(line),
});

test('three collections with a schema', () => {
  const db = new Database({ name: 'costs' });
  const orders = new db.Collection({ name: 'orders', type: 'DOCUMENT_BASED', schema: order });
  const stamped = new db.Collection({
    name: 'stamped',
    type: 'DOCUMENT_BASED',
    schema: order,
    indicate_created_at: true,
    indicate_updated_at: true,
  });
  const values = new db.Collection({ name: 'values', type: 'KEY_VALUE_BASED', schema: address });
  void values.get('home');
  void orders.filter({ state: 'open', 'lines.sku': 'x' }, { sort: { placed_at: -1 } });
  void orders.patch('a', { $inc: { number: 1 }, $push: { tags: 'new' } });
  void stamped.filter({ _created_at: { $lt: new Date() } }, { sort: { _created_at: -1 } });
  void orders.insert({
    ...{ number: 1, placed_at: new Date(), lines: [] },
    billing: { street: 'x', zip: '1', city: 'Oslo' },
  });
});
