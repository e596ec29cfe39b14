/** Storage that few workers use: in files, encrypted or in memory, and their format of values. */
import { openEncrypted } from '../../storage/encryption/open-encrypted.ts';
import { openOpfs } from '../../storage/opfs/open-opfs.ts';
import { otherStorage } from './other-storage.ts';

export const { openOther } = otherStorage(async () => ({ openEncrypted, openOpfs }));
