/** Storage that few workers use, in files, encrypted or in memory, and their format of values. */
export { emptyStores, MemoryStorage } from './drivers/memory-storage.ts';
export { openEncrypted } from './encryption/open-encrypted.ts';
export { openOpfs } from './opfs/open-opfs.ts';
