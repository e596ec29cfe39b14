import { expect, test } from 'vitest';
import { modifyInTabs } from './modify-run.ts';
import type { Tab } from './tab.ts';

const MOMENTS = 60;
async function expectAll(seed: number, happen: (leader: Tab) => void): Promise<void> {
  const { problems, made, found } = await modifyInTabs(seed, happen);
  expect(problems).toEqual([]);
  expect([seed, ...found]).toEqual([seed, ...made]);
}

test('no modify of two tabs is lost or applied twice, whenever their leader ends', async () => {
  for (let seed = 1; seed <= MOMENTS; seed++) await expectAll(seed, (leader) => leader.kill());
});

test('no modify of two tabs is lost or applied twice, whenever their leader is closed', async () => {
  for (let seed = 1; seed <= MOMENTS; seed++) await expectAll(seed, (leader) => leader.close());
});

test('no modify of two tabs is lost or applied twice, whenever their leader is frozen', async () => {
  for (let seed = 1; seed <= MOMENTS; seed++)
    await expectAll(seed, (leader) => leader.freeze(8000));
});
