/** Storage that few workers use, in files or encrypted, and their format of values. */
export { openEncrypted } from './encryption/open-encrypted.ts';
export { openOpfs } from './opfs/open-opfs.ts';
