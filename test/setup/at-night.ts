import { inject, test } from 'vitest';

/** Whether this is the thorough run of each night: `EFFORT=2`. */
export const isNight = inject('effort') > 1;

/**
 * Defines a test that runs at night only. Not `skipIf`: a full run refuses tests that are left out.
 */
export const testAtNight = isNight ? test : undefined;

/**
 * What a test runs with: a choice each time, all of it at night. `npm test` has to end soon; the
 * choice has each behaviour once.
 */
export function allAtNight<T>(all: readonly T[], eachTime: readonly T[]): readonly T[] {
  return isNight ? all : eachTime;
}

/** Shares no factor with the kinds of failures of a call, so that each kind is among the chosen. */
const PERIOD = 13;

/**
 * Of a sweep through all places where something can fail: three of thirteen each time, all at
 * night.
 */
export function someEachTime<T>(places: Iterable<T>): readonly T[] {
  return [...places].filter((_, index) => isNight || (index % PERIOD) % 5 === 0);
}
