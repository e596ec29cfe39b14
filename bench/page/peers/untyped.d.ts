// These packages come without types.
declare module 'lokijs';
declare module 'lokijs/src/incremental-indexeddb-adapter.js';
declare module 'lokijs/src/loki-indexed-adapter.js';
declare module 'pouchdb-browser';
declare module 'pouchdb-find';
