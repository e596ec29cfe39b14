import { expect, test } from 'vitest';
import { faultyDriver } from '../storage/faulty-driver.ts';
import { openClient } from './engine-client.ts';

const TYPE = { name: 'things', type: 'DOCUMENT_BASED' } as const;

test('documents are migrated that could not be opened at first', async () => {
  const driver = faultyDriver();
  const before = openClient(driver).client;
  await new before.Collection({ ...TYPE }).insert({ _id: 'a', n: 1 });
  await before.close();
  const { client } = openClient(driver);
  await new client.Collection({ name: 'others', type: 'DOCUMENT_BASED' }).ready;
  driver.inject({ call: 'getMany', when: 'before', times: 2 });
  const steps = { 2: (one: any) => ({ ...one, n: one.n + 1 }) };
  const things = new client.Collection<any>({ ...TYPE, version: 2, migrate: steps });
  await things.ready.catch(() => undefined);
  driver.heal();
  expect(await things.get('a')).toMatchObject({ _id: 'a', n: 2 });
  await client.close();
});
