export { closeTestDatabases } from './close-after-test.ts';
export {
  type StorageDriverCase,
  storageDriverCases,
  storageDriverSuite,
  type TestRunner,
} from './driver-suite/storage-driver-suite.ts';
export { FakeClock } from './fake-clock.ts';
export { type TestBrowser, type TestBrowserOptions, testBrowser } from './test-browser.ts';
export { type TestDatabase, type TestDatabaseOptions, testDatabase } from './test-database.ts';
export { type StorageFault, type TestStorage, testStorage } from './test-storage.ts';
