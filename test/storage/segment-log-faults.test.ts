import { memoryDriver } from '../../src/storage/drivers/memory-driver.ts';
import { segmentLogFaults } from './segment-log-faults.suite.ts';

segmentLogFaults(memoryDriver);
