import { expect, test } from 'vitest';
import { formatRate } from '../../demo/parts/format.ts';

test('a rate is shown once there is something to divide', () => {
  for (const [count, ms] of [
    [0, 0],
    [0, undefined],
    [5, 0],
    [0, 12],
  ] as const)
    expect(formatRate(count, ms)).toBeUndefined();
  expect(formatRate(500, 250)).toBe('2,000');
});
