import { expect, test } from 'vitest';
import { rank } from '../../bench/databases/report/ranking.mjs';

type Results = Parameters<typeof rank>[0];
type Contender = Results['contenders'][number];

const contender = (name: string, about: Partial<Contender> = {}): Contender => ({
  name,
  title: name,
  kind: 'database',
  keeps: true,
  resident: false,
  runs: 'page',
  resolved: 'in memory',
  savedBy: undefined,
  usage: '',
  versions: {},
  ...about,
});

const gets = (name: string, ...values: number[]) => ({
  size: 1_000,
  contender: name,
  workload: 'gets',
  metric: 'at once',
  values,
});

const results: Results = {
  at: '2026-01-01T00:00:00.000Z',
  commit: 'abc',
  machine: { browser: 'Chromium 1', cores: 2, processor: 'one', system: 'two' },
  seed: 1,
  rounds: 3,
  bytesADocument: 300,
  contenders: [
    contender('cairn-worker', { runs: 'worker' }),
    contender('disk'),
    contender('cache', { resident: true }),
    contender('volatile', { keeps: false }),
    contender('loop', { kind: 'limit', keeps: false }),
    contender('message', { kind: 'limit', keeps: false, runs: 'worker' }),
  ],
  measured: [
    gets('cairn-worker', 9, 6, 3),
    gets('disk', 8, 8, 8),
    gets('cache', 4, 4, 4),
    gets('volatile', 1, 1, 1),
    gets('loop', 2, 2, 2),
    gets('message', 3, 3, 3),
  ],
  failures: [],
};

test('results are ranked by median, beside the best document database and the limit', () => {
  const [ranking] = rank(results, 1_000);
  expect(ranking?.entries.map((entry) => entry.contender.name)).toEqual([
    'volatile',
    'loop',
    'message',
    'cache',
    'cairn-worker',
    'disk',
  ]);
  expect(ranking?.best?.contender.name).toBe('cache');
  expect(ranking?.bestFromDisk?.contender.name).toBe('disk');
  const own = ranking?.entries.find((entry) => entry.contender.name === 'cairn-worker');
  expect(own).toMatchObject({ median: 6, min: 3, max: 9, runs: 3, toBest: 1.5, toLimit: 2 });
});

test('results of another size are ignored', () => {
  expect(rank(results, 10_000)).toEqual([]);
});
