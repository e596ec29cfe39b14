import { indexedDbDriver } from '../../src/storage/indexeddb-driver.ts';
import { describeDriver } from './driver.suite.ts';

describeDriver('IndexedDB driver', indexedDbDriver());
