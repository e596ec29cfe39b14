import type { Connection } from 'cairndb';

interface Buyer {
  name: string;
  address: { city: string };
}

interface Item {
  name: string;
  category: string;
  stock: number;
}

export interface Sale {
  number: number;
  customer: string;
  product: string;
  quantity: number;
  status: string;
  placed: Date;
}

// Relations belong to the handle, not to what is stored: nothing migrates.
export function relateShop(db: Connection, indexesOf: (name: string) => readonly string[]) {
  const open = <T extends object>(name: string) =>
    new db.Collection<T>({
      name,
      type: 'DOCUMENT_BASED',
      caching: true,
      indexes: indexesOf(name),
    });
  const customers = open<Buyer>('customers');
  const products = open<Item>('products');
  const orders = new db.Collection<Sale, { buyer: typeof customers; item: typeof products }>({
    name: 'orders',
    type: 'DOCUMENT_BASED',
    caching: true,
    indexes: indexesOf('orders'),
    relations: {
      buyer: { one: () => customers, from: 'customer' },
      item: { one: () => products, from: 'product' },
    },
  });
  return { db, products, orders };
}

export type RelatedShop = ReturnType<typeof relateShop>;
