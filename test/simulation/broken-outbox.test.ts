import { expect, test } from 'vitest';
import { type Breaks, changedDatabase, runOutbox } from './outbox-run.ts';
import { firstFailure } from './run-seeds.ts';

const withoutSaves = changedDatabase((db, name) =>
  name === 'Collection'
    ? function Collection(options: never) {
        return Object.assign(new db.Collection(options), { save: async () => undefined });
      }
    : undefined,
);
let keys = 0;

test.each<[string, Breaks]>([
  ['sends calls that are not saved', withoutSaves],
  ['gives each attempt a key of its own', { key: (key) => `${key}.${++keys}` }],
])('an outbox that %s is found out', async (_, breaks) => {
  expect(await firstFailure((seed) => runOutbox(seed, breaks), { seeds: 300 })).toBeDefined();
});
