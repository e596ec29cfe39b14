import { beforeAll, expect, test } from 'vitest';
import { memoryDriver } from '../../src/storage/drivers/memory-driver.ts';
import { driverWith, readStored, type Stored } from '../backup/stored.ts';
import { type Answers, ask, fill } from './mutated-world.ts';
import { type Mutation, mutationsOf } from './mutations.ts';
import { unnoticed } from './unnoticed.ts';

let stored: Stored;
let expected: Answers;
let mutations: Mutation[];

beforeAll(async () => {
  const driver = memoryDriver();
  await fill(driver);
  stored = await readStored(driver);
  mutations = [...mutationsOf(stored, 1)];
  ({ answers: expected } = await ask({ driver: await driverWith(stored), caching: true }));
}, 60_000);

test('the stored values have all that is mutated', () => {
  const keys = stored.bodies.map(([key]) => String(key[1]));
  expect(keys).toContain('checkpoint');
  expect(keys).toContain('last');
  expect(stored.segments.length).toBeGreaterThan(4);
  expect(stored.snapshots).toHaveLength(3);
  expect(mutations.length).toBeGreaterThan(468);
});

test.each([true, false])('what is whole answers everything, caching %s', async (caching) => {
  const { answers, said } = await ask({ driver: await driverWith(stored), caching });
  expect(answers).toEqual(expected);
  expect(said).toEqual([]);
});

test.each([0, 1, 2, 3])(
  'no mutation gives a wrong answer without a word, part %i of them',
  async (part) => {
    const silent: string[] = [];
    for (const [index, { name, stored: mutated }] of mutations.entries()) {
      if (index % 4 !== part) continue;
      const report = await ask({ driver: await driverWith(mutated), caching: part < 2 });
      silent.push(...unnoticed(report, expected).map((what) => `${name}: ${what}`));
    }
    expect(silent).toEqual([]);
  },
  120_000,
);
