import type { Shop } from './open-shop.ts';

// The same calls without a transaction. Two tabs read the same stock, and the second
// overwrites what the first took: a lost update.
export async function placeOrderUnsafely(
  { products, orders }: Shop,
  { id, by }: { id: string; by: string },
  quoteDelivery: () => Promise<number>,
) {
  const product = await products.get(id);
  if (!product?.stock) return undefined; // sold out
  const delivery = await quoteDelivery();
  await products.patch(id, { stock: product.stock - 1 });
  return orders.insert({ product: product.name, delivery, placed: new Date(), by, runs: 1 });
}
