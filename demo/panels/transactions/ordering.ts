import { signal } from '@preact/signals';
import { announce } from '../../app/announcer.tsx';
import { formatCount } from '../../parts/format.ts';
import { placeOrder } from './recipes/place-order.ts';
import { placeOrderUnsafely } from './recipes/place-order-unsafely.ts';
import { attempt, fillShelf, ME, PRODUCT_IDS, shop, shopProblem } from './shop.ts';
import { type Way, way } from './way.ts';

/** Orders of each page in a rush. */
export const RUSH = 20;

/** A delivery price takes as long as the answer of a near server, in milliseconds. */
const QUOTE_MS = { least: 5, more: 20 };

/** What this page is doing, or has done. */
export const ordering = signal('No orders from this page yet.');

/** Starts a rush in all other pages of the shop. */
const rushes = new BroadcastChannel('shop-rush');

/** Takes part in the rushes of other pages. @returns a function that ends this. */
export function joinRushes(): () => void {
  rushes.onmessage = ({ data }: MessageEvent<Way>) => void rush(data);
  return () => {
    rushes.onmessage = null;
  };
}

/** Fills the shelf, then places orders in all pages at once. */
export async function rushEverywhere(): Promise<void> {
  if (isOrdering || !(await fillShelf())) return;
  rushes.postMessage(way.peek());
  await rush(way.peek());
}

/** Places one order, for a random product. */
export const orderOne = (): Promise<void> => orderMany(1, way.peek());

const rush = (how: Way): Promise<void> => orderMany(RUSH, how);

let isOrdering = false;

async function orderMany(count: number, how: Way): Promise<void> {
  if (isOrdering) return;
  isOrdering = true;
  shopProblem.value = '';
  let [placed, retries, soldOut] = [0, 0, 0];
  for (let number = 1; number <= count; number++) {
    await attempt(async () => {
      const order = await orderRandom(how, (run) => {
        ordering.value = `Order ${number} of ${count}, run ${run} …`;
      });
      if (order) placed += 1;
      else soldOut += 1;
      retries += (order?.runs ?? 1) - 1;
    });
  }
  isOrdering = false;
  const done = `Placed ${formatCount(placed, 'order')} with ${formatCount(retries, 'retry', 'retries')}`;
  ordering.value = soldOut > 0 ? `${done}; ${soldOut} sold out.` : `${done}.`;
  announce(ordering.value);
}

function orderRandom(how: Way, started: (run: number) => void) {
  const id = PRODUCT_IDS[Math.floor(Math.random() * PRODUCT_IDS.length)] as string;
  const order = { id, by: ME };
  if (how === 'transaction') return placeOrder(shop, order, quoteDelivery, started);
  started(1);
  return placeOrderUnsafely(shop, order, quoteDelivery);
}

async function quoteDelivery(): Promise<number> {
  const wait = QUOTE_MS.least + Math.random() * QUOTE_MS.more;
  await new Promise((resolve) => setTimeout(resolve, wait));
  return 4.9;
}
