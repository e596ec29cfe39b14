import { memoryDriver } from '../../src/storage/drivers/memory-driver.ts';
import { describeDriver } from './driver.suite.ts';
import { faultyDriver } from './faulty-driver.ts';

describeDriver('memory driver', memoryDriver());

// What the other tests stand on must itself be a driver.
describeDriver('faulty driver without faults', faultyDriver());
