import { CollectionError } from '../../errors/collection-error.ts';
import { StorageError } from '../../errors/storage-error.ts';

/** Whether a collection can be used, and if not, why. */
export class Availability {
  /** `undefined` while the collection can be used, and while it opens. */
  error: Error | undefined;

  /** Whether a restored backup makes it usable again. */
  get isDamaged(): boolean {
    return this.error instanceof StorageError && this.error.code === 'data_damaged';
  }

  /**
   * Whether it could not be opened, so that opening it again makes sense. A damaged collection stays open: two of
   * one name that are both restored would overwrite each other's segments.
   */
  get failed(): boolean {
    return this.error !== undefined && !this.isDamaged;
  }

  /** Whether it was dropped, or is of another type. */
  get isGone(): boolean {
    return this.error instanceof CollectionError;
  }

  check(): void {
    if (this.error) throw this.error;
  }
}
