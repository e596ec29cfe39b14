/** The code of encryption, which a worker of `connect()` loads when it is requested. */
import type { EncryptionModule } from '../src/storage/encryption/encryption-module.ts';
import { openEncrypted as open } from '../src/storage/encryption/open-encrypted.ts';

export const openEncrypted: EncryptionModule['openEncrypted'] = open;
