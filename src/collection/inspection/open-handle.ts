import type { CollectionSettings } from '../../engine/protocol/settings.ts';
import type { Result } from '../../engine/scheduling/coroutine.ts';
import type { Sender } from '../calls/sender.ts';

/** Registered: `cairndb/devtools` imports no code of the library, so it works with whichever copy made the database. */
export const INSPECTION: unique symbol = Symbol.for('cairndb.inspection');

/** A handle of this page. */
export interface OpenHandle {
  /** The app's own collection object. */
  readonly collection: object;
  readonly settings: CollectionSettings;
  /** Replaced while somebody observes the calls. */
  readonly handle: {
    calls: object;
    readonly channel: { run<T>(start: (sender: Sender) => Result<T>): Promise<T> };
  };
}
