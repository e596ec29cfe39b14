import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readEarlier } from '../../bench/databases/earlier-run.mjs';
import { Measurement } from '../../bench/databases/measure-databases.mjs';

const earlier = (about: object) => ({
  at: '2026-01-01T00:00:00.000Z',
  commit: '0000000',
  machine: { browser: 'Chromium 1', cores: 2, processor: 'one', system: 'two' },
  seed: 1,
  rounds: 1,
  bytesADocument: 300,
  contenders: [],
  measured: [{ size: 10, contender: 'slow', workload: 'gets', metric: 'at once', values: [7] }],
  failures: [],
  ...about,
});

function read(about: object) {
  const folder = mkdtempSync(join(tmpdir(), 'cairn-earlier-'));
  try {
    const file = join(folder, 'run.json');
    writeFileSync(file, JSON.stringify(earlier(about)));
    return readEarlier(file, { seed: 1 });
  } finally {
    rmSync(folder, { recursive: true });
  }
}

test('a run goes on with its own seed and sources only', () => {
  expect(() => read({ seed: 2 })).toThrow('has seed 2; use --seed.');
  expect(() => read({})).toThrow('start a new run');
});

test('a contender whose round takes long is measured once, in a run that goes on, too', async () => {
  const peer = { name: 'slow', keeps: true, kind: 'database' };
  const contender = { name: 'slow', title: 'Slow', peer, cairn: '/dist' } as never;
  const options = { workloads: ['gets'], seed: 1, once: 60 };
  const measurement = new Measurement({} as never, [contender], options);
  const long = [{ size: 10, contender: 'slow', seconds: 61 }];
  measurement.goOn(earlier({ long }));
  await measurement.round(10, 2); // opens no browser
  expect(measurement.measured).toEqual(earlier({}).measured);
  expect(measurement.failures).toEqual([]);
  expect(measurement.long).toEqual(long);
});
