import type { Body } from '../../codec/body.ts';
import type { StoredRecord } from '../../storage/segments/stored-record.ts';
import type { LiveNews } from '../protocol/live-protocol.ts';
import type { Coroutine } from '../scheduling/coroutine.ts';

/** Returns the body of a changed version. */
export type BodyOf = (record: StoredRecord) => Body;

/** The result of a live query, and the state that its reader has. */
export interface LiveResult {
  /** Updates the result from the records of these keys. @returns whether the reader may see a difference. */
  update(keys: ReadonlySet<string>, bodyOf: BodyOf): boolean;
  /** Must be called when all records were replaced. Keeps the reader's state, to compare with. */
  reload(): void;
  /**
   * The next news; `undefined` if the reader's state is current. A computation that waits continues with the versions it
   * began with: their segments must stay pinned.
   */
  next(): Coroutine<LiveNews | undefined>;
}
