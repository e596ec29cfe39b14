import { expect, test } from 'vitest';
import { faultyDriver } from '../storage/faulty-driver.ts';
import { openClient } from './engine-client.ts';
import { FakeClock } from './fake-clock.ts';

const things = {
  name: 'things',
  type: 'DOCUMENT_BASED',
  caching: true,
  cache_retention_time: 1,
} as const;

interface Thing {
  n: number;
  pad: string;
}

test('a cache cleared while bodies load: reads still find every document', async () => {
  const driver = faultyDriver();
  const { client } = openClient(driver);
  // Opening does not read the bodies of large segments.
  const pad = 'p'.repeat(100_000);
  await new client.Collection<Thing>(things).insertMany([
    { n: 1, pad },
    { n: 2, pad },
  ]);
  await client.close();
  for (let ticks = 0; ticks < 80; ticks++) {
    const clock = new FakeClock();
    const again = openClient(driver, clock).client;
    const opened = new again.Collection<Thing>(things);
    void opened.count();
    for (let tick = 0; tick < ticks; tick++) await undefined;
    void clock.advance(60_000);
    expect([ticks, (await opened.filter({ n: 2 })).map(({ n }) => n)]).toEqual([ticks, [2]]);
    await opened.ready;
    expect([ticks, opened.sync.count({ n: 1 })]).toEqual([ticks, 1]);
    await again.close();
  }
});
