import { createElement, StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { afterEach, expect, test } from 'vitest';
import { useLiveAggregate, useLiveQuery } from '../../../src/bindings/react/index.ts';
import { connect, Database, type DatabaseClient, type PipelineStage } from '../../../src/index.ts';

const CUSTOMERS = 5;
const JOBS = 20;
const CHANGES = 24;

let end: () => unknown = () => undefined;
afterEach(() => end());

/** Customers and jobs: a transaction gives all of them one number, and jobs other customers. */
async function openShop(db: DatabaseClient) {
  const customers = new db.Collection<{ name: string }>({
    name: 'customers',
    type: 'DOCUMENT_BASED',
  });
  interface JobRelations {
    customer: typeof customers;
  }
  const jobs = new db.Collection<{ title: string; customer_id: string }, JobRelations>({
    name: 'jobs',
    type: 'DOCUMENT_BASED',
    indexes: ['customer_id'],
    relations: { customer: { one: () => customers, from: 'customer_id' } },
  });
  const write = (number: number) =>
    db.transaction(async (tx) => {
      for (let c = 0; c < CUSTOMERS; c++)
        await tx(customers).upsert({ _id: `c${c}`, name: `${number}` });
      for (let j = 0; j < JOBS; j++) {
        const customer_id = `c${(j + number) % CUSTOMERS}`;
        await tx(jobs).upsert({ _id: `j${j}`, title: `${number}`, customer_id });
      }
    });
  await write(0);
  return { customers, jobs, write };
}

type Shop = Awaited<ReturnType<typeof openShop>>;

const NAMES: PipelineStage[] = [
  { $lookup: { from: 'customers', localField: 'customer_id', foreignField: '_id', as: 'by' } },
  { $unwind: '$by' },
  {
    $group: {
      _id: '$customer_id',
      names: { $addToSet: '$by.name' },
      titles: { $addToSet: '$title' },
    },
  },
];

/** A list with names. */
function Jobs({ jobs }: Shop) {
  const { data = [] } = useLiveQuery(jobs, {}, { include: { customer: true } });
  return data.map(({ _id, title, customer }) =>
    createElement('li', { key: _id }, `${title} ${customer?.name}`),
  );
}

/** A total of a list with names. */
function Totals({ jobs }: Shop) {
  const { data = [] } = useLiveAggregate(jobs, NAMES);
  return data.map(({ _id, names, titles }) =>
    createElement('li', { key: `${_id}` }, `${titles} ${names}`),
  );
}

test.each([
  ['connect()', 'a list', Jobs],
  ['connect()', 'a pipeline', Totals],
  ['Database', 'a list', Jobs],
  ['Database', 'a pipeline', Totals],
] as const)(
  'with %s, %s of two collections agrees with itself in every frame',
  async (client, _, List) => {
    const name = `related ${Math.random()}`;
    const db = client === 'Database' ? new Database({ name }) : connect({ name });
    const shop = await openShop(db);
    const element = document.createElement('ul');
    document.body.append(element);
    const root = createRoot(element);
    const shown = new Set<string>();
    const look = () => shown.add(Array.from(element.children, (item) => item.textContent).join());
    // After each commit, and before each paint.
    const observer = new MutationObserver(look);
    observer.observe(element, { subtree: true, childList: true, characterData: true });
    let frame = requestAnimationFrame(function paint() {
      look();
      frame = requestAnimationFrame(paint);
    });
    end = () => {
      cancelAnimationFrame(frame);
      observer.disconnect();
      root.unmount();
      element.remove();
      return db.destroy();
    };
    root.render(createElement(StrictMode, {}, createElement(List, shop)));
    for (let number = 1; number <= CHANGES; number++) {
      await shop.write(number);
      // Now and then it is shown before the next.
      if (number % 4 === 0)
        await expect
          .poll(() => element.textContent, { interval: 5 })
          .toMatch(RegExp(`^${number} `));
    }
    const length = List === Jobs ? JOBS : CUSTOMERS;
    const whole = (number: number) => Array(length).fill(`${number} ${number}`).join();
    const allowed = ['', ...Array.from({ length: CHANGES + 1 }, (_, number) => whole(number))];
    expect([...shown].filter((text) => !allowed.includes(text))).toEqual([]);
    // Those it waited for.
    expect(shown.size).toBeGreaterThanOrEqual(CHANGES / 4);
  },
);
