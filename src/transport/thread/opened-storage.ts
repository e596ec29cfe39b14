import type { Storage } from '../../storage/drivers/driver.ts';

/** The storage that an engine has opened. */
export interface OpenedStorage {
  readonly storage: Storage;
  /** As in `status.storage`. */
  readonly kind: string;
  /** Why it is another than requested. */
  readonly why?: string | undefined;
  /** Whether all tabs share it: not a driver of the caller's, nor the memory that replaces unusable storage. */
  readonly shared: boolean;
}
