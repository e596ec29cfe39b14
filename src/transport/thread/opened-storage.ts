import type { Storage } from '../../storage/drivers/driver.ts';
import type { KeyedStorage } from '../../storage/encryption/encryption-module.ts';

/** The storage that an engine has opened. */
export interface OpenedStorage {
  readonly storage: Storage;
  /** As in `status.storage`. */
  readonly kind: string;
  /** Why it is another than requested. */
  readonly why?: string | undefined;
  /** The same, where it is encrypted. */
  readonly keyed?: KeyedStorage | undefined;
  /** Whether all tabs share it: not a driver of the caller's, nor the memory that replaces unusable storage. */
  readonly shared: boolean;
}
