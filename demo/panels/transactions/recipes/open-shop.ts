import { type Connection, connect } from 'cairndb';

export interface Product {
  name: string;
  stock: number;
}

export interface Order {
  product: string;
  /** Euros, for the delivery. */
  delivery: number;
  placed: Date;
  /** The page that placed it. */
  by: string;
  /** How often the function ran, until nobody had changed what it read. */
  runs: number;
}

export function openShop() {
  const db: Connection = connect({ name: 'shop' });
  const products = new db.Collection<Product>({ name: 'products', type: 'DOCUMENT_BASED' });
  const orders = new db.Collection<Order>({ name: 'orders', type: 'DOCUMENT_BASED' });
  return { db, products, orders };
}

export type Shop = ReturnType<typeof openShop>;
