// Node and happy-dom have no IndexedDB of their own.
import 'fake-indexeddb/auto';
