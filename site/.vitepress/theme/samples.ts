import type * as Engine from '../../../src/index.ts';

/** Code to begin with. */
export interface Sample {
  readonly title: string;
  readonly code: string;
}

export const SAMPLES: readonly [Sample, ...Sample[]] = [
  {
    title: 'Live query',
    code: `orders.live(
  { price: { $gte: 40 } },
  { sort: { price: -1 }, limit: 6 },
);`,
  },
  {
    title: 'Totals',
    code: `orders.liveAggregate([
  { $group: {
    _id: '$room',
    orders: { $sum: 1 },
    total: { $sum: '$price' },
  } },
  { $sort: { total: -1 } },
]);`,
  },
  {
    title: 'Search',
    code: `orders.liveSearch('oak shlef', {
  fuzzy: true,
});`,
  },
  {
    title: 'Change',
    code: `await orders.patchMany(
  { room: 'office' },
  { $mul: { price: 0.9 } },
);
return orders.live({ room: 'office' });`,
  },
];

interface Order {
  item: string;
  room: string;
  price: number;
}

const MATERIALS = ['Oak', 'Brass', 'Wool', 'Glass', 'Cork', 'Linen'];
const THINGS = ['shelf', 'lamp', 'rug', 'desk', 'chair', 'mirror', 'bench'];
const ROOMS = ['office', 'kitchen', 'hall'];

const oneOf = (list: readonly string[]) => list[Math.floor(Math.random() * list.length)] as string;

export const someOrder = (): Order => ({
  item: `${oneOf(MATERIALS)} ${oneOf(THINGS)}`,
  room: oneOf(ROOMS),
  price: 10 + Math.floor(Math.random() * 120),
});

/** A database in memory with a few orders. */
export async function shopOf({
  Database,
  memoryDriver,
}: Pick<typeof Engine, 'Database' | 'memoryDriver'>) {
  const db = new Database({ name: 'shop', storage: memoryDriver() });
  const orders = new db.Collection<Order>({
    name: 'orders',
    type: 'DOCUMENT_BASED',
    indexes: ['price', { text: 'item' }],
  });
  await orders.insertMany([
    { item: 'Oak shelf', room: 'office', price: 120 },
    { item: 'Brass lamp', room: 'hall', price: 45 },
    { item: 'Wool rug', room: 'hall', price: 80 },
    { item: 'Oak desk', room: 'office', price: 240 },
    { item: 'Cork board', room: 'kitchen', price: 18 },
    { item: 'Glass bowl', room: 'kitchen', price: 36 },
  ]);
  return { db, orders };
}
