import { join } from 'node:path';
import { afterEach } from 'vitest';
import { files } from '../../src/node/index.ts';
import type { StorageDriver } from '../../src/storage/drivers/driver.ts';
import { makeFolder } from '../../tools/browsers/child.mjs';
import { segmentLogFaults } from '../storage/segment-log-faults.suite.ts';

const root = makeFolder('faults');
let drivers: StorageDriver[] = [];
let directories = 0;

// The suite leaves its databases open.
afterEach(async () => {
  for (const driver of drivers) await driver.delete?.('db');
  drivers = [];
});

segmentLogFaults(() => {
  const driver = files(join(root, String(++directories)));
  drivers.push(driver);
  return driver;
});
