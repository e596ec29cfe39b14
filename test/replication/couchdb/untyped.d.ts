declare module 'express';
declare module 'express-pouchdb';
declare module 'pouchdb-adapter-memory';
declare module 'pouchdb-core';
