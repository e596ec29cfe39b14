import { describe, test } from 'vitest';
import { memoryDriver } from '../../src/storage/drivers/memory-driver.ts';
import { storageDriverSuite, testStorage } from '../../src/testing/index.ts';
import { faultyDriver } from './faulty-driver.ts';

storageDriverSuite(memoryDriver(), { describe, test });

// Other tests rely on these, so they have to pass, too.
describe('without faults', () => {
  storageDriverSuite(faultyDriver(), { describe, test });
  storageDriverSuite(testStorage(), { describe, test });
});
