import { isPlainObject } from '../../codec/kinds.ts';
import { OptionError } from '../../errors/option-error.ts';
import type { Check } from '../options/option-checks.ts';

/** A step of `migrate`; checked when it runs. */
type Step = (given: never, key: string) => unknown;

/** The steps of a collection, by the version that they lead to. */
export type MigrationSteps = { readonly [version: number]: Step };

/** Of the option `migrate`. */
export const stepList: Check = {
  allowed: 'functions by version',
  test: (value) =>
    isPlainObject(value) && Object.values(value).every((step) => typeof step === 'function'),
};

/**
 * Checks that the steps lead to the version, one after the other.
 *
 * @throws {OptionError} `migration_gap`
 */
export function checkSteps(version: unknown, steps: unknown): void {
  const given = Object.keys(steps ?? {});
  const first = (version as number) - given.length + 1;
  // Keys that are integers come in ascending order.
  if (first > 1 && given.every((key, index) => key === `${first + index}`)) return;
  throw new OptionError(
    'migration_gap',
    `"migrate" must have steps up to version ${version} without a gap, from 2 on, not ${given}.`,
    { place: 'migrate' },
  );
}
