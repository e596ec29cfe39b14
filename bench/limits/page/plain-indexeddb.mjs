/** Plain IndexedDB, the lower bound of the comparison. */

/** @template T @param {IDBRequest<T>} request @returns {Promise<T>} */
export function answer(request) {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}

/** @param {IDBTransaction} transaction @returns {Promise<void>} */
function completed(transaction) {
  return new Promise((resolve, reject) => {
    transaction.oncomplete = () => resolve();
    transaction.onabort = () => reject(transaction.error);
  });
}

/** @param {string} name @param {string} [store] made if the database is new */
export function openPlain(name, store) {
  const request = indexedDB.open(name);
  request.onupgradeneeded = () => store && request.result.createObjectStore(store);
  return answer(request);
}

/** @param {string} name */
export async function deletePlain(name) {
  await answer(indexedDB.deleteDatabase(name));
}

const RECORD_SIZE = 500;

/**
 * Documents as objects in records of 500, in one transaction.
 *
 * @param {IDBDatabase} database
 * @param {string} store
 * @param {object[]} documents
 */
export function putRecords(database, store, documents) {
  const transaction = database.transaction(store, 'readwrite', { durability: 'relaxed' });
  const documentsStore = transaction.objectStore(store);
  for (let from = 0; from < documents.length; from += RECORD_SIZE) {
    documentsStore.put(documents.slice(from, from + RECORD_SIZE), from);
  }
  transaction.commit();
  return completed(transaction);
}

/**
 * One document in a transaction of its own, until it is complete.
 *
 * @param {IDBDatabase} database
 * @param {string} store
 * @param {object} document
 * @param {number} key
 */
export function putOne(database, store, document, key) {
  const transaction = database.transaction(store, 'readwrite', { durability: 'relaxed' });
  transaction.objectStore(store).put(document, key);
  transaction.commit();
  return completed(transaction);
}
