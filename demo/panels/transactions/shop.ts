import { signal } from '@preact/signals';
import type { NewDocument } from 'cairndb';
import { messageOf } from '../../parts/message-of.ts';
import { openShop, type Product, type Shop } from './recipes/open-shop.ts';
import { restock, stockNewShop } from './recipes/restock.ts';
import { type Sight, watchShop } from './recipes/watch-shop.ts';

/** Of each product, before the first order. */
export const FULL = 50;

const shelf: readonly NewDocument<Product>[] = [
  { _id: 'brass-bowl', name: 'Brass bowl', stock: FULL },
  { _id: 'linen-cushion', name: 'Linen cushion', stock: FULL },
  { _id: 'oak-lamp', name: 'Oak lamp', stock: FULL },
];

export const PRODUCT_IDS = shelf.map(({ _id }) => String(_id));

/** Of all products. */
export const FULL_STOCK = FULL * shelf.length;

/** This page, until it is reloaded. */
export const ME = crypto.randomUUID();

/** The panel's own database. It stays open when the panel is left. */
export const shop: Shop = openShop();

export const shopProblem = signal('');

/** Products and orders of the same moment. */
export const sight = signal<Sight | undefined>(undefined);

/** Keeps {@link sight} current. @returns a function that ends this. */
export const followShop = (): (() => void) =>
  watchShop(
    shop,
    (now) => {
      sight.value = now;
    },
    (error) => {
      shopProblem.value = messageOf(error);
    },
  );

/** Does something with the shop, and shows why if it fails. @returns whether it succeeded. */
export async function attempt(action: () => Promise<unknown>): Promise<boolean> {
  try {
    await action();
    return true;
  } catch (error) {
    shopProblem.value = messageOf(error);
    return false;
  }
}

export const openShelf = (): Promise<boolean> => attempt(() => stockNewShop(shop, shelf));

export function fillShelf(): Promise<boolean> {
  shopProblem.value = '';
  return attempt(() => restock(shop, shelf));
}
