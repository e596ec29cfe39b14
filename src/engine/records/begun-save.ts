import type { AppendWrite } from '../../storage/log/append-write.ts';

/** A save under way. */
export interface BegunSave {
  /** How many changes it writes. */
  readonly changes: number;
  readonly append: AppendWrite;
  /** Must be called when the write has succeeded. */
  readonly stored: () => void;
  readonly failed: AppendWrite['failed'];
}
