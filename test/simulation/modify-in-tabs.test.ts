import { expect, test } from 'vitest';
import { modifyInTabs } from './modify-run.ts';
import { seedsOf } from './run-seeds.ts';
import type { Tab } from './tab.ts';

async function expectAll(seed: number, happen: (leader: Tab) => void): Promise<void> {
  const { problems, made, found } = await modifyInTabs(seed, happen);
  expect(problems).toEqual([]);
  expect([seed, ...found]).toEqual([seed, ...made]);
}

test('no modify of two tabs is lost or applied twice, whenever their leader ends', async () => {
  for (const seed of seedsOf(60)) await expectAll(seed, (leader) => leader.kill());
});

test('no modify of two tabs is lost or applied twice, whenever their leader is closed', async () => {
  for (const seed of seedsOf(60)) await expectAll(seed, (leader) => leader.close());
});

test('no modify of two tabs is lost or applied twice, whenever their leader is frozen', async () => {
  for (const seed of seedsOf(60)) await expectAll(seed, (leader) => leader.freeze(8000));
});
