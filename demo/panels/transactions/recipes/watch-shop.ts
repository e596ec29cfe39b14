import type { Stored } from 'cairndb';
import type { Order, Product, Shop } from './open-shop.ts';

export interface Sight {
  products: Stored<Product>[];
  orders: Stored<Order>[];
}

// Two live queries report that something has changed. One transaction then reads both
// collections from one snapshot, so their sum is never torn.
export function watchShop(
  { db, products, orders }: Shop,
  show: (sight: Sight) => void,
  fail: (error: unknown) => void,
) {
  let isReading = false;
  let isStale = false;

  async function read() {
    isStale = true;
    if (isReading) return;
    isReading = true;
    try {
      while (isStale) {
        isStale = false;
        const sight = await db.transaction(async (tx) => ({
          products: await tx(products).filter({}),
          orders: await tx(orders).filter({}, { sort: { placed: -1 } }),
        }));
        show(sight);
      }
    } catch (error) {
      fail(error);
    }
    isReading = false;
  }

  const stops = [products.live({}).subscribe(read), orders.liveCount({}).subscribe(read)];
  return () => stops.forEach((stop) => void stop());
}
