import { memoryDriver } from '../../src/storage/drivers/memory-driver.ts';
import { describeDriver } from './driver.suite.ts';
import { faultyDriver } from './faulty-driver.ts';

describeDriver('memory driver', memoryDriver());

// Other tests rely on the faulty driver, so it has to pass, too.
describeDriver('faulty driver without faults', faultyDriver());
