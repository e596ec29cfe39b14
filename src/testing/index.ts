export { closeTestDatabases } from './close-after-test.ts';
export {
  type StorageDriverCase,
  storageDriverCases,
  storageDriverSuite,
  type TestRunner,
} from './driver-suite/storage-driver-suite.ts';
export { FakeClock } from './fake-clock.ts';
export {
  type TestBrowser,
  type TestBrowserOptions,
  type TestDatabase,
  type TestDatabaseOptions,
  testBrowser,
  testDatabase,
} from './test-database.ts';
export { type StorageFault, type TestStorage, testStorage } from './test-storage.ts';
