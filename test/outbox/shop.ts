import { type OutboxAction, OutboxError, type SendContext } from '../../src/outbox/index.ts';
import { checkActions, Outbox, type QueuedCall } from '../../src/outbox/outbox.ts';
import type { DatabaseClient } from '../../src/page/client/database-client.ts';
import type { FakeClock } from '../../src/testing/index.ts';

export interface Order {
  readonly _id: string;
  readonly item: string;
}

/** A server that takes each key once. */
export class Shop {
  /** What it did, in order. */
  readonly made: Order[] = [];
  /** The keys of all requests. */
  readonly keys: string[] = [];
  /** Answers in place of the usual ones, first come first served. */
  readonly answers: (() => unknown)[] = [];
  readonly #known = new Set<string>();

  readonly take = async (order: Order, { key }: SendContext): Promise<unknown> => {
    this.keys.push(key);
    const answer = this.answers.shift();
    if (answer) return answer();
    return this.make(order, key);
  };

  make(order: Order, key: string): Response {
    if (!this.#known.has(key)) this.made.push(order);
    this.#known.add(key);
    return new Response('{}', { status: 201 });
  }

  get items(): string[] {
    return this.made.map(({ item }) => item);
  }
}

/** A page with orders and an outbox, at the time of a test. */
export function openShop(
  db: DatabaseClient,
  shop: Shop,
  clock: FakeClock,
  actions: Record<string, Partial<OutboxAction<Order>>> = { order: {} },
) {
  const orders = new db.Collection<{ item: string }>({ name: 'orders', type: 'DOCUMENT_BASED' });
  const returns = new Set<() => void>();
  const whole = Object.entries(actions).map(([name, action]) => [
    name,
    {
      local: (tx, order) => tx(orders).insert(order),
      send: shop.take,
      refused: (tx, order) => tx(orders).delete(order._id),
      ...action,
    } satisfies OutboxAction<Order>,
  ]);
  const box = new Outbox<Record<string, Order>>(
    db,
    checkActions(Object.fromEntries(whole)),
    { collection: 'cairn_outbox', timeout: 60_000, sync_tag: 'outbox' },
    {
      ...{ clock, random: () => 1 },
      onReturn: (call) => {
        returns.add(call);
        return () => void returns.delete(call);
      },
    },
  );
  const order = (item: string, action = 'order') =>
    (box.actions[action] as (order: Order) => Promise<QueuedCall>)({ _id: item, item });
  const events: unknown[][] = [];
  for (const name of ['sent', 'refused', 'undo_failed', 'unknown'] as const)
    box.on(name, (event) => events.push([name, (event as { id: string }).id]));
  const stored = async () => (await orders.filter({})).map(({ item }) => item);
  const online = () => {
    for (const call of returns) call();
  };
  return { db, box, orders, order, events, stored, online };
}

export const offline = () => Promise.reject(new TypeError('Failed to fetch'));
export const status = (code: number, headers: Record<string, string> = {}, text = '') =>
  new Response(text, { status: code, headers });
export const soldOut = () => {
  throw new OutboxError('call_refused', 'Sold out');
};
