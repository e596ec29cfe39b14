import type { Table } from './table.ts';

/** The tables that the playground can fill itself. */
export const TABLES: readonly Table[] = [
  {
    name: 'cities',
    title: 'Cities',
    noun: ['city', 'cities'],
    columns: [
      { path: 'name', title: 'Name', kind: 'text', width: 14 },
      { path: 'country', title: 'Country', kind: 'text', width: 11 },
      { path: 'population', title: 'Population', kind: 'number', width: 8 },
      { path: 'location.latitude', title: 'Latitude', kind: 'number', width: 7 },
      { path: 'location.longitude', title: 'Longitude', kind: 'number', width: 7 },
    ],
  },
  {
    name: 'customers',
    title: 'Customers',
    noun: ['customer', 'customers'],
    columns: [
      { path: 'name', title: 'Name', kind: 'text', width: 14 },
      { path: 'email', title: 'Email', kind: 'text', width: 16 },
      { path: 'address.city', title: 'City', kind: 'text', width: 10 },
      { path: 'since', title: 'Since', kind: 'date', width: 9, isFixed: true },
    ],
  },
  {
    name: 'products',
    title: 'Products',
    noun: ['product', 'products'],
    columns: [
      { path: 'name', title: 'Name', kind: 'text', width: 14 },
      { path: 'category', title: 'Category', kind: 'text', width: 9 },
      { path: 'price', title: 'Price', kind: 'number', width: 7 },
      { path: 'stock', title: 'In stock', kind: 'number', width: 7 },
    ],
  },
  {
    name: 'orders',
    title: 'Orders',
    noun: ['order', 'orders'],
    columns: [
      { path: 'number', title: 'Number', kind: 'number', width: 7, isFixed: true },
      {
        path: 'customer',
        title: 'Customer',
        kind: 'text',
        width: 10,
        isFixed: true,
        names: { collection: 'customers', field: 'name' },
      },
      {
        path: 'product',
        title: 'Product',
        kind: 'text',
        width: 10,
        isFixed: true,
        names: { collection: 'products', field: 'name' },
      },
      { path: 'quantity', title: 'Quantity', kind: 'number', width: 6 },
      { path: 'status', title: 'Status', kind: 'text', width: 7 },
      { path: 'placed', title: 'Placed', kind: 'date', width: 8, isFixed: true },
    ],
  },
];
