import type { Result } from '../../async/coroutine.ts';
import type { ManagedReply, Request } from '../../protocol/requests.ts';
import type { OperationContext } from '../collection-context.ts';
import type { DocumentScans } from '../find/document-scans.ts';
import type { NewVersion } from './new-rows.ts';

export type InsertedDocument = Pick<Request<'upsert'>, 'id' | 'body' | 'now' | 'kept'>;

export type UpdatedDocument = InsertedDocument & Pick<Request<'update'>, 'patch'>;

/** Where documents are changed. */
export interface UpdatedStore {
  readonly scans: Pick<DocumentScans, 'query'>;
  insert(document: InsertedDocument): ManagedReply;
  update(request: UpdatedDocument): ManagedReply | undefined;
  put(version: NewVersion): ManagedReply;
}

/** The code of rare changes, and of values, which loads with the first. */
interface UpdateCode {
  /** Executes the requests that the part has. */
  readonly DocumentUpdates: new (
    context: OperationContext,
    store: UpdatedStore,
  ) => RequestExecutor;
  /** The store of a key-value collection, which waits for this code as it opens. */
  readonly KeyValueStore: new (
    context: OperationContext,
  ) => RequestExecutor;
}

export interface RequestExecutor {
  execute(request: Request): Result<unknown>;
}

/** Of a request that has waited for its part. */
export let updateCode: UpdateCode;

/** To be called by the part once it has loaded. */
export function provideUpdates(code: UpdateCode): void {
  updateCode = code;
}
