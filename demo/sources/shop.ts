import type { NewDocument } from 'cairndb';
import { seededRandom } from './random.ts';
import type { Source } from './source.ts';

const CUSTOMERS = 2000;
const PRODUCTS = 240;
const ORDERS = 10_000;
const DOCUMENTS_A_BATCH = 500;
const DAY = 86_400_000;
const LAST_DAY = Date.UTC(2026, 9, 31);

const FIRST =
  'Ada Amir Bo Clara Dario Elif Femi Greta Hana Ivo Jun Kofi Lena Mila Noor Omar Pia Quinn Rosa Sami Tove Uma Vito Wanda Yara Zeno'.split(
    ' ',
  );
const LAST =
  'Abara Berg Castro Dahl Engel Faure Gallo Haas Ito Jansen Khan Lopez Marek Novak Okoye Pires Roth Silva Tamm Ueda Vidal Weber Young Zorn'.split(
    ' ',
  );
const TOWNS = 'Bergen Cork Ghent Graz Lagos Lyon Malmö Nagoya Porto Quito Riga Turin'.split(' ');
const MATERIALS = 'Oak Linen Brass Glass Wool Slate Cork Steel'.split(' ');
const THINGS: Readonly<Record<string, string>> = {
  lamp: 'light',
  lantern: 'light',
  chair: 'seating',
  stool: 'seating',
  shelf: 'storage',
  box: 'storage',
  bowl: 'kitchen',
  tray: 'kitchen',
  blanket: 'textile',
  cushion: 'textile',
};
const STATES = ['open', 'packed', 'sent', 'sent', 'sent', 'returned'];

/** A random item. */
const pick = <T>(random: () => number, list: readonly T[]): T =>
  list[Math.floor(random() * list.length)] as T;

const upTo = (random: () => number, limit: number) => Math.floor(random() * limit);

/** Readable ids in the order of the names, unique by number. */
const idOf = (name: string, index: number): string =>
  `${name} ${index}`.toLowerCase().replaceAll(' ', '-');

function customer(random: () => number, index: number): NewDocument {
  const first = pick(random, FIRST);
  const last = pick(random, LAST);
  return {
    _id: idOf(`${first} ${last}`, index),
    name: `${first} ${last}`,
    email: `${first}.${last}${index}@example.com`.toLowerCase(),
    address: { city: pick(random, TOWNS), zip: String(10_000 + upTo(random, 89_999)) },
    since: new Date(LAST_DAY - upTo(random, 2000) * DAY),
  };
}

function product(random: () => number, index: number): NewDocument {
  const [thing, category] = pick(random, Object.entries(THINGS));
  const name = `${pick(random, MATERIALS)} ${thing} ${1 + upTo(random, 9)}`;
  return {
    _id: idOf(name, index),
    name,
    category,
    price: 5 + upTo(random, 40_000) / 100,
    stock: upTo(random, 120),
  };
}

type Make = (random: () => number, index: number) => NewDocument;

/** Deterministic. */
function make(count: number, one: Make): NewDocument[] {
  const random = seededRandom(count);
  return Array.from({ length: count }, (_, index) => one(random, index));
}

const customers = () => make(CUSTOMERS, customer);
const products = () => make(PRODUCTS, product);

/** Orders reference customers and products by `_id`. */
function orders(): NewDocument[] {
  const customerIds = customers().map(({ _id }) => _id);
  const productIds = products().map(({ _id }) => _id);
  return make(ORDERS, (random, index) => ({
    _id: `order-${index}`,
    number: 100_000 + index,
    customer: pick(random, customerIds),
    product: pick(random, productIds),
    quantity: 1 + upTo(random, 5),
    status: pick(random, STATES),
    placed: new Date(LAST_DAY - upTo(random, 700) * DAY - upTo(random, DAY)),
  }));
}

function source(
  collection: string,
  title: string,
  total: number,
  documents: () => NewDocument[],
): Source {
  return {
    collection,
    title,
    total,
    async *batches() {
      const all = documents();
      for (let from = 0; from < total; from += DOCUMENTS_A_BATCH) {
        yield all.slice(from, from + DOCUMENTS_A_BATCH);
      }
    },
  };
}

/** Three collections that belong together. */
export const SHOP: readonly Source[] = [
  source('customers', 'Customers', CUSTOMERS, customers),
  source('products', 'Products', PRODUCTS, products),
  source('orders', 'Orders', ORDERS, orders),
];
