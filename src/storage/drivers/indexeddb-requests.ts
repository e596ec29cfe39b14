/** What may happen to a connection of IndexedDB. */
interface ConnectionEvents {
  /** Another connection wants a newer version, or none: then `next` is `null`. */
  readonly blocking?: (next: number | null) => void;
  /** The browser has closed it. */
  readonly terminated?: () => void;
}

/** The result of a request. */
export function resultOfRequest<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}

/**
 * Settles when a transaction has ended. Each failure aborts it, and before that it has no error: a
 * full disk fails no request.
 */
export function endOf(transaction: IDBTransaction): Promise<void> {
  return new Promise((resolve, reject) => {
    transaction.oncomplete = () => resolve();
    transaction.onabort = () =>
      reject(transaction.error ?? new DOMException('The transaction was aborted.', 'AbortError'));
  });
}

/** Opens a database. Rejects also in a page without an origin of its own. */
export async function openDatabase(
  name: string,
  version: number | undefined,
  upgrade: (transaction: IDBTransaction, event: IDBVersionChangeEvent) => void,
  { blocking, terminated }: ConnectionEvents = {},
): Promise<IDBDatabase> {
  const request = indexedDB.open(name, version);
  request.onupgradeneeded = (event) => upgrade(request.transaction as IDBTransaction, event);
  const database = await resultOfRequest(request);
  database.onversionchange = ({ newVersion }) => blocking?.(newVersion);
  database.onclose = () => terminated?.();
  return database;
}

/** Opens a database that the engine has made: this would leave it without object stores. */
export function openExisting(name: string, events?: ConnectionEvents): Promise<IDBDatabase> {
  return openDatabase(name, undefined, (transaction) => transaction.abort(), events);
}
