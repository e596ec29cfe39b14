import type { Shop } from './open-shop.ts';

// Changes two collections, all or nothing. If another tab changes the product before
// the commit, the function runs again and reads the new stock.
export function placeOrder(
  { db, products, orders }: Shop,
  { id, by }: { id: string; by: string },
  quoteDelivery: () => Promise<number>,
  started: (run: number) => void,
) {
  let runs = 0;
  return db.transaction(
    async (tx) => {
      started(++runs);
      const product = await tx(products).get(id);
      if (!product?.stock) return undefined; // sold out
      const delivery = await quoteDelivery(); // await anything: nobody waits for it
      await tx(products).patch(id, { stock: product.stock - 1 });
      return tx(orders).insert({ product: product.name, delivery, placed: new Date(), by, runs });
    },
    { retries: 20 }, // by default 5: here many pages take from few products
  );
}
