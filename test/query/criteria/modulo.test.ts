import { matchTable } from './match-table.ts';

matchTable('$mod', [
  {
    shows: 'finds numbers by remainder',
    criteria: { a: { $mod: [4, 1] } },
    matches: [{ a: 5 }, { a: [2, 9] }, { a: 1 }],
    misses: [{ a: 4 }, { a: -5 }, { a: '5' }, { a: true }, { a: null }, {}],
  },
  {
    shows: 'keeps the sign of the value',
    criteria: { a: { $mod: [4, -1] } },
    matches: [{ a: -5 }],
    misses: [{ a: 3 }],
  },
  {
    shows: 'drops the fraction of the value',
    criteria: { a: { $mod: [2, 0] } },
    matches: [{ a: 4.9 }, { a: -0.5 }, { a: -4 }],
    misses: [{ a: 5.1 }],
  },
  {
    shows: 'drops the fraction of divisor and remainder',
    criteria: { a: { $mod: [4.9, 1.9] } },
    matches: [{ a: 5 }],
    misses: [{ a: 6 }],
  },
  {
    shows: 'finds no numbers that a long cannot hold',
    criteria: { a: { $mod: [2, 0] } },
    misses: [{ a: Number.NaN }, { a: Number.POSITIVE_INFINITY }, { a: 2 ** 63 }],
  },
  {
    shows: 'takes bigints',
    criteria: { a: { $mod: [10n, 1] } },
    matches: [{ a: 11 }, { a: 10n ** 20n + 1n }],
    misses: [{ a: 12n }],
  },
]);
