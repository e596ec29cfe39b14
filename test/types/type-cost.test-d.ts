// What `tools/type-cost.mjs` measures: a document of 74 fields, nested and with arrays, 31 queries
// and 12 patches. Change the budget with it.
import { test } from 'vitest';
import { Database } from '../../src/index.ts';

interface Address {
  name: string;
  street: string;
  house: string;
  zip: string;
  city: string;
  country: 'DE' | 'FR' | 'NO' | 'US';
  position?: { latitude: number; longitude: number };
}

interface Line {
  sku: string;
  title: string;
  amount: number;
  price: { net: number; gross: number; currency: 'EUR' | 'USD' };
  discounts: readonly { code: string; percent: number }[];
  options: Record<string, string>;
}

interface Customer {
  id: string;
  email: string;
  phones: string[];
  born?: Date;
  address: Address;
  company: { name: string; vat: string | null; address: Address } | null;
  settings: { language: string; news: { mail: boolean; push: boolean; topics: string[] } };
}

type Payment =
  | { kind: 'card'; brand: string; last_four: string; paid_at: Date }
  | { kind: 'invoice'; due_at: Date; reminders: { sent_at: Date; fee: number }[] };

interface Order {
  number: number;
  region: string;
  state: 'open' | 'paid' | 'sent' | 'returned';
  placed_at: Date;
  total: number;
  tags: string[];
  note?: string;
  gift: boolean;
  customer: Customer;
  billing: Address;
  delivery: Address;
  lines: Line[];
  payment: Payment;
  history: { at: Date; from: string; to: string; by: { id: string; name: string } }[];
  parcels: { code: string; weight: number; size: [number, number, number]; stops: Address[] }[];
  parent?: Order;
  returns: Order[];
  meta: Record<string, unknown>;
  files: Map<string, Blob>;
  extra: unknown;
}

test('queries over a large document', async () => {
  const db = new Database({ name: 'types' });
  const orders = new db.Collection<Order>({
    name: 'orders',
    type: 'DOCUMENT_BASED',
    indicate_created_at: true,
    indicate_edited_at: true,
    indicate_archived_timestamp: true,
  });
  const since = new Date(0);
  await orders.find({ number: 1 });
  await orders.find({ state: { $in: ['open', 'paid'] } });
  await orders.find({ 'customer.email': /@/ });
  await orders.find({ 'customer.company.address.city': 'Oslo' });
  await orders.find({ 'customer.settings.news.topics': { $all: ['a', 'b'] } });
  await orders.find({ 'billing.position.latitude': { $gt: 50, $lt: 60 } });
  await orders.find({ 'lines.sku': 'a', 'lines.price.net': { $gte: 10 } });
  await orders.find({ 'lines.0.discounts.0.code': { $regex: '^a', $options: 'i' } });
  await orders.find({ lines: { $elemMatch: { sku: 'a', 'price.currency': 'EUR' } } });
  await orders.find({ lines: { $size: 3 }, tags: { $size: 2 } });
  await orders.filter({ placed_at: { $gte: since } }, { sort: { placed_at: -1 }, limit: 20 });
  await orders.filter({ _created_at: { $gte: since } }, { sort: { _created_at: 1, total: -1 } });
  await orders.filter({ $or: [{ gift: true }, { 'payment.kind': 'card' }] });
  await orders.filter({ $and: [{ total: { $gt: 5 } }, { $nor: [{ note: { $exists: false } }] }] });
  await orders.filter({ 'payment.reminders.fee': { $gt: 0 } }, { skip: 10, limit: 10 });
  await orders.filter({ 'history.by.id': 'a' }, { select: ['number', 'history.by.name'] });
  await orders.filter({}, { select: ['customer.address.city', 'lines.price.net', 'tags'] });
  await orders.filter({}, { select: ['payment', 'parcels.stops.zip'], sort: { 'billing.zip': 1 } });
  await orders.filter({ region: 'north' }, { where: ({ lines }) => lines.length > 2 });
  await orders.filter(({ customer }) => customer.settings.news.mail, { archived: 'only' });
  await orders.filter({ 'parcels.stops.country': { $nin: ['DE', 'FR'] } });
  await orders.filter({ 'parcels.0.size.1': { $mod: [2, 0] } });
  await orders.filter({ 'parent.customer.email': 'a', 'returns.0.number': 4 });
  await orders.filter({ 'meta.any.thing': 1, 'extra.more': true });
  await orders.count({ 'customer.born': { $lt: since } });
  await orders.count({ 'delivery.country': { $ne: 'US' } }, { archived: true });
  await orders.has({ 'customer.phones': { $elemMatch: { $regex: /^\+47/ } } });
  await orders.has(({ payment }) => payment.kind === 'card');
  await orders.deleteMany({ state: 'returned', _archived: true });
  const [first] = await orders.filter({}, { sort: { number: 1 }, limit: 1 });
  await orders.filter({}, { sort: { number: 1 }, ...(first && { after: first }) });
  const id = first?._id ?? '';
  await orders.patch(id, { state: 'sent', 'customer.settings.news.mail': false });
  await orders.patch(id, { 'lines.0.price.net': 5, 'payment.due_at': since, note: undefined });
  await orders.patch(id, { $set: { 'billing.city': 'Oslo', 'meta.any.thing': 1 } });
  await orders.patch(id, { $unset: { note: true, 'customer.born': true } });
  await orders.patch(id, { $inc: { total: 5, 'lines.0.amount': 1, 'parcels.0.weight': 0.5 } });
  await orders.patch(id, { $mul: { total: 1.25 }, $max: { placed_at: since } });
  await orders.patch(id, { $currentDate: { placed_at: true }, $min: { 'customer.born': since } });
  await orders.patch(id, {
    $push: { tags: 'late', 'lines.0.discounts': { code: 'a', percent: 5 } },
  });
  await orders.patch(id, { $push: { lines: { $each: [], $sort: { 'price.net': 1 }, $slice: 9 } } });
  await orders.patch(id, { $addToSet: { 'customer.phones': { $each: ['1', '2'] } } });
  await orders.patch(id, { $pull: { lines: { sku: 'a', 'price.net': { $lt: 1 } }, tags: /^a/ } });
  if (first) await orders.patch(id, first);
});
