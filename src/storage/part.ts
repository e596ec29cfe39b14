/** Storage that few workers use, in files or encrypted, with the format of values that both share. */
export { openEncrypted } from './encryption/open-encrypted.ts';
export { openOpfs } from './opfs/open-opfs.ts';
