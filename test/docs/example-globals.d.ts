// Names that examples use without declaring them. The test that type-checks the examples adds this
// file; the project's own tsconfig.json leaves it out.
/// <reference types="svelte" />
/// <reference types="vite/client" />
import type { DocumentCollection, connect as makeClient } from 'cairndb';

interface Order {
  item: string;
  price: number;
  done?: boolean;
}

interface Address {
  city: string;
  zip?: string;
}

interface Person {
  name: string;
  email?: string;
  age?: number;
  region?: string;
  tags?: string[];
  address: Address;
}

interface Article {
  note?: string;
  about?: string;
  stock?: number;
  price?: number;
  seen?: Date;
  size?: { width: number };
  tags?: string[];
  bids?: number[];
  lines?: { sku: string; count: number }[];
}

interface Memo {
  text: string;
  done?: boolean;
}

declare global {
  type User = Person;
  type Note = Memo;
  type Product = Article;
  const db: ReturnType<typeof makeClient>;
  const connection: typeof db;
  const orders: DocumentCollection<Order>;
  const users: DocumentCollection<User>;
  const notes: DocumentCollection<Note>;
  const openOrders: ReturnType<typeof orders.live>;

  const { connect, Database, CairnError }: typeof import('cairndb');

  function render(data: unknown): Promise<void>;
  function askToReload(): void;

  const input: HTMLInputElement;
  const progressBar: HTMLProgressElement;

  // File System Access API, in Chromium
  function showSaveFilePicker(options: { suggestedName: string }): Promise<FileSystemFileHandle>;
  function showDirectoryPicker(options: { mode: 'readwrite' }): Promise<FileSystemDirectoryHandle>;
  interface FileSystemHandle {
    queryPermission(options: { mode: 'readwrite' }): Promise<PermissionState>;
  }

  // Vue, in <script setup>
  function defineProps<P>(): P;
}
