declare module 'lokijs/src/incremental-indexeddb-adapter.js' {
  /** Stores what has changed, in chunks of some hundred documents. */
  export default class IncrementalIndexedDBAdapter implements LokiPersistenceAdapter {
    mode: string;
    loadDatabase(name: string, callback: (value: unknown) => void): void;
  }
}
