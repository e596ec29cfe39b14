import { expect, test } from 'vitest';
import { changedDatabase, runOutbox } from './outbox-run.ts';
import { FIRST, SEEDS } from './run-seeds.ts';

test('calls of an outbox are sent once and in order, whatever tabs and the network do', async () => {
  for (let seed = FIRST; seed < FIRST + SEEDS / 5; seed++) {
    const trace = process.env.TRACE ? console.log : undefined;
    expect([seed, await runOutbox(seed, {}, trace)]).toEqual([seed, []]);
  }
});

const allLead = changedDatabase((db, name) =>
  name === 'status' ? { ...db.status, leader: true } : undefined,
);

test('no call has two keys, even where all pages send', async () => {
  for (let seed = FIRST; seed < FIRST + SEEDS / 10; seed++) {
    const wrong = await runOutbox(seed, allLead);
    expect([seed, wrong.filter((one) => !one.includes('order'))]).toEqual([seed, []]);
  }
});
