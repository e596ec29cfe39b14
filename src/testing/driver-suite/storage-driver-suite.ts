import { OptionError } from '../../errors/errors.ts';
import type { StorageDriver } from '../../storage/drivers/driver.ts';
import { deleteCases, epochCases } from './database-cases.ts';
import { DriverBench, type DriverCase } from './driver-bench.ts';
import { readCases, writeCases } from './value-cases.ts';

/** A test that a storage driver must pass. */
export interface StorageDriverCase {
  readonly name: string;
  /** The optional method of a driver that it tests: leave it out for a driver without. */
  readonly needs?: 'delete' | 'has';
  /**
   * Runs it, on databases of its own.
   *
   * @throws {Error} that says what the driver did, and what it must do.
   */
  run(driver: StorageDriver): Promise<void>;
}

/**
 * The functions of a test runner: those of Vitest, Jest, Mocha (`it` as `test`) and node:test fit.
 */
export interface TestRunner {
  readonly describe: (name: string, define: () => void) => unknown;
  readonly test: (name: string, run: () => Promise<void>) => unknown;
}

/** All tests of a storage driver, for a runner that {@link storageDriverSuite} does not know. */
export const storageDriverCases: readonly StorageDriverCase[] = [
  ...readCases,
  ...writeCases,
  ...epochCases,
  ...deleteCases,
].map(({ run, ...rest }: DriverCase) => ({ ...rest, run: (driver) => runCase(run, driver) }));

/**
 * Declares the tests that every storage driver must pass.
 *
 * @param driver The driver. Each test opens databases with new names, and leaves them behind.
 * @throws {OptionError} `option_invalid` where a function of the runner is missing.
 *
 * @example
 * ```ts no-run
 * import { describe, test } from 'vitest';
 * import { storageDriverSuite } from 'cairndb/testing';
 * import { myDriver } from './my-driver';
 *
 * storageDriverSuite(myDriver(), { describe, test });
 * ```
 */
export function storageDriverSuite(driver: StorageDriver, { describe, test }: TestRunner): void {
  if (typeof describe !== 'function' || typeof test !== 'function') {
    const message =
      'storageDriverSuite(driver, { describe, test }) needs both functions of your runner.';
    throw new OptionError('option_invalid', message, { place: 'runner' });
  }
  describe(`storage driver "${driver.kind}"`, () => {
    for (const { name, needs, run } of storageDriverCases)
      if (!needs || driver[needs]) test(name, () => run(driver));
  });
}

async function runCase(run: DriverCase['run'], driver: StorageDriver): Promise<void> {
  const bench = new DriverBench(driver);
  try {
    await run(bench);
  } finally {
    await bench.closeAll();
  }
}
