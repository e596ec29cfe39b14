import {
  cairnFiles,
  cairnThread,
  cairnThreadShared,
  cairnThreadUncached,
  cairnWorker,
  cairnWorkerUncached,
} from './peers/cairn.mjs';
import { dexie } from './peers/dexie.mjs';
import { idb } from './peers/idb.mjs';
import { indexedDb } from './peers/indexeddb.mjs';
import { localforage } from './peers/localforage.mjs';
import { loki, lokiClone } from './peers/loki.mjs';
import { loop } from './peers/loop.mjs';
import { message } from './peers/message.mjs';
import { nedb } from './peers/nedb.mjs';
import { pglite } from './peers/pglite.mjs';
import { pouchdb } from './peers/pouchdb.mjs';
import { rxdbDexie, rxdbMemory } from './peers/rxdb.mjs';
import { signaldb } from './peers/signaldb.mjs';
import { sqlite } from './peers/sqlite.mjs';
import { tanstackIndexedDb, tanstackMemory } from './peers/tanstack.mjs';
import { tinybase } from './peers/tinybase.mjs';

/**
 * All contenders. To add one, write its file and list it here. @type {readonly
 * import('./peer.mjs').Peer[]}
 */
export const peers = [
  cairnWorker,
  cairnWorkerUncached,
  cairnFiles,
  cairnThread,
  cairnThreadUncached,
  cairnThreadShared,
  dexie,
  idb,
  localforage,
  pouchdb,
  rxdbDexie,
  rxdbMemory,
  loki,
  lokiClone,
  tinybase,
  signaldb,
  tanstackIndexedDb,
  tanstackMemory,
  nedb,
  sqlite,
  pglite,
  indexedDb,
  loop,
  message,
];
