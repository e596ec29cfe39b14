import type { Body } from '../../codec/body.ts';
import type { StoredRecord } from '../../storage/segments/stored-record.ts';
import type { LiveNews } from '../protocol/live-protocol.ts';
import type { Coroutine } from '../scheduling/coroutine.ts';

/** The body of a version that was just changed. */
export type BodyOf = (record: StoredRecord) => Body;

/** The result of a live query as the engine keeps it, and what of it was told. */
export interface LiveResult {
  /** Takes in the records with these keys as they are now; whether there may be something to tell. */
  update(keys: ReadonlySet<string>, bodyOf: BodyOf): boolean;
  /** Forgets what it knows of the records, and not what was told: other records have taken their place. */
  reload(): void;
  /**
   * What to tell next, `undefined` when nothing differs from what was told. Work that waits goes on with
   * the versions it began with; their segments must not be taken away meanwhile.
   */
  next(): Coroutine<LiveNews | undefined>;
}
