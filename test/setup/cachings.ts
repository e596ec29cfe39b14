import { inject } from 'vitest';

/** The values of `caching` that a test runs with: one each time, both with `EFFORT=2`. */
export const cachings = (eachTime: boolean): readonly boolean[] =>
  inject('effort') > 1 ? [true, false] : [eachTime];
