export type {
  EncryptionKey,
  PasskeyKey,
  PasswordKey,
} from '../storage/encryption/wrapping-key.ts';
export type { EncryptedDriver } from '../transport/encryption/client-encryption.ts';
export { type ChangePasswordOptions, changePassword } from './change-password.ts';
export { type EncryptableStorage, type EncryptedStorageOptions, encrypted } from './encrypted.ts';
export {
  type EncryptableTarget,
  type EncryptedTargetOptions,
  encryptedTarget,
} from './encrypted-target.ts';
