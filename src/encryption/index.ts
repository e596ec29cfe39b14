export type { EncryptedDriver } from '../protocol/client-encryption.ts';
export type { EncryptionKey, PasskeyKey, PasswordKey } from './app-key.ts';
export { type ChangePasswordOptions, changePassword } from './change-password.ts';
export { type EncryptableStorage, type EncryptedStorageOptions, encrypted } from './encrypted.ts';
export {
  type EncryptableTarget,
  type EncryptedTargetOptions,
  encryptedTarget,
} from './encrypted-target.ts';
