import { inject } from 'vitest';

/**
 * What a test runs with: a choice each time, all of it with `EFFORT=2`, as each night. `npm test` has to end soon; the choice
 * has each behaviour once.
 */
export function allAtNight<T>(all: readonly T[], eachTime: readonly T[]): readonly T[] {
  return inject('effort') > 1 ? all : eachTime;
}
