import { expect, test } from 'vitest';
import type { DatabaseClient } from '../../src/index.ts';
import { testBrowser } from '../../src/testing/index.ts';

interface Job {
  status: string;
  customer_id: string;
}

function open(db: DatabaseClient) {
  const customers = new db.Collection<{ name: string }>({
    name: 'customers',
    type: 'DOCUMENT_BASED',
  });
  interface JobRelations {
    customer: typeof customers;
  }
  const jobs = new db.Collection<Job, JobRelations>({
    name: 'jobs',
    type: 'DOCUMENT_BASED',
    relations: { customer: { one: () => customers, from: 'customer_id' } },
  });
  return { customers, jobs };
}

test('a follower keeps its partners over failovers', async () => {
  const browser = testBrowser();
  const tabs = [browser.openTab(), browser.openTab(), browser.openTab()];
  const [first, second, third] = tabs.map(open);
  if (!first || !second || !third) throw new Error('three tabs');
  await first.customers.insert({ _id: 'ada', name: 'Ada' });
  await first.jobs.insert({ _id: 'roof', status: 'open', customer_id: 'ada' });
  const include = { customer: true } as const;
  const live = third.jobs.live({ customer: { $some: { name: /^[AE]/ } } }, { include });
  const plain = third.jobs.live({}, { include });
  const stops = [live.subscribe(() => undefined), plain.subscribe(() => undefined)];
  await Promise.all([live.ready, plain.ready]);
  expect(plain.getSnapshot().data?.[0]?.customer?.name).toBe('Ada');

  await tabs[0]?.close();
  await second.customers.patch('ada', { name: 'Eve' });
  expect(await third.jobs.filter({}, { include })).toMatchObject([{ customer: { name: 'Eve' } }]);
  const shows = async (name: string) => {
    for await (const data of plain) if (data[0]?.customer?.name === name) return;
  };
  await shows('Eve');

  await tabs[1]?.close();
  await third.customers.patch('ada', { name: 'Eva' });
  await shows('Eva');
  for await (const data of live) if (data[0]?.customer?.name === 'Eva') break;
  expect(
    await third.jobs.patchMany({ customer: { $some: { name: 'Eva' } } }, { status: 'x' }),
  ).toBe(1);
  await third.jobs.patchMany({}, { customer_id: 'nobody' });
  for await (const data of live) if (data.length === 0) break;
  for (const stop of stops) stop();
  await tabs[2]?.close();
});
