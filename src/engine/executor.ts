import type { IdempotencyKey, Request } from '../protocol/requests.ts';
import type { IndexDeclaration } from './documents/index-keeper.ts';
import type { LiveReader } from './live/live-reader.ts';

/** A request that ends what its client does not go on with. */
export type GiveUp = Request<'scanEnd' | 'exportEnd' | 'viewEnd' | 'abort' | 'insertAbandon'>;

/** Executes requests: a collection, or the whole database. */
export interface Executor {
  /**
   * The result is a promise only if something has to be waited for.
   *
   * @param reader The live query that the request is about.
   * @param key Of a change by a client. A change that was applied before is not applied again.
   * @param declaration The indexes that the handle declares. While they are built, requests of
   *   other handles go on.
   */
  execute(
    request: Request,
    reader?: LiveReader,
    key?: IdempotencyKey,
    declaration?: IndexDeclaration,
  ): unknown;
  /** Ends what a client that left does not go on with. Failures are reported. */
  giveUp(request: GiveUp): void;
}
