import type { Stored } from 'cairndb';
import type { RelatedShop, Sale } from './relate-shop.ts';

// Both collections change, or neither.
export const sendOrder = ({ db, orders, products }: RelatedShop, order: Stored<Sale>) =>
  db.transaction(async (tx) => {
    await tx(orders).patch(order._id, { status: 'sent' });
    await tx(products).patch(order.product, { $inc: { stock: -order.quantity } });
  });
