import type { NewDocument } from 'cairndb';
import type { Product, Shop } from './open-shop.ts';

// No tab ever sees the new stock beside the old orders.
export const restock = ({ db, products, orders }: Shop, shelf: readonly NewDocument<Product>[]) =>
  db.transaction(
    async (tx) => {
      await tx(orders).deleteMany({});
      await tx(products).upsertMany(shelf);
    },
    { retries: 20 },
  );

// Two tabs that open the shop for the first time at once fill it once.
export const stockNewShop = ({ db, products }: Shop, shelf: readonly NewDocument<Product>[]) =>
  db.transaction(async (tx) => {
    if ((await tx(products).count()) === 0) await tx(products).insertMany(shelf);
  });
