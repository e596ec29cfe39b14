import type { DatabaseClient } from '../../src/page/client/database-client.ts';

/** An order of the shop; all of its content follows from the step that made it. */
export interface Order {
  n: number;
  touched: number;
  text: string;
}

export const KEPT = 20;

/** @param save_timeout By default far away: saves are those of the test. */
export function ordersOf(db: DatabaseClient, save_timeout = 3600) {
  return new db.Collection<Order>({ name: 'orders', type: 'DOCUMENT_BASED', save_timeout });
}

export const idOf = (n: number) => `order-${n}`;

/** Of 0 to 60 kB, so that files of LevelDB fill and are merged. */
export const textOf = (n: number) => `${n};`.repeat((n * 7919) % 12_000);

/**
 * What is stored after a step: each inserts an order, touches the one before, and deletes an old
 * one.
 */
export function stateAfter(step: number): Order[] {
  const orders: Order[] = [];
  for (let n = Math.max(1, step - KEPT + 1); n <= step; n++)
    orders.push({ n, touched: n < step ? n + 1 : 0, text: textOf(n) });
  return orders;
}
