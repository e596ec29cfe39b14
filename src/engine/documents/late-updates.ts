import type { Coroutine, Result } from '../../async/coroutine.ts';
import type { Body } from '../../codec/body.ts';
import type { ManagedReply, ReplyTo, Request } from '../../protocol/requests.ts';
import type { StoredRecord } from '../../storage/segments/stored-record.ts';
import type { OperationContext } from '../collection-context.ts';
import type { DocumentScans } from '../find/document-scans.ts';

/** Changes inside documents: fields to set, or update operators. */
export interface DocumentUpdates {
  patch(request: Request<'patch'>): Coroutine<ReplyTo<'patch'>>;
  patchOne(request: Request<'patchOne'>): Coroutine<ReplyTo<'patchOne'>>;
  patchMany(request: Request<'patchMany'>): Coroutine<ReplyTo<'patchMany'>>;
  /**
   * The version that a patch would make of a record. A schema may still make a Date of what is in
   * the field of `expire_after`.
   */
  patched(before: StoredRecord, request: Request<'getVersion'>): Coroutine<StoredRecord>;
  /** The document that an upsert by criteria inserts. */
  inserted(request: Request<'getVersion'>): {
    readonly id: string | undefined;
    readonly body: Body;
  };
}

export type InsertedDocument = Pick<Request<'upsert'>, 'id' | 'body' | 'now' | 'kept'>;

/** Where documents are changed. */
export interface UpdatedStore {
  readonly scans: Pick<DocumentScans, 'idsOf'>;
  insert(document: InsertedDocument): ManagedReply;
}

/** The code of changes inside documents and values, which loads with the first. */
interface UpdateCode {
  readonly DocumentUpdates: new (context: OperationContext, store: UpdatedStore) => DocumentUpdates;
  /** The store of a key-value collection, which waits for this code as it opens. */
  readonly KeyValueStore: new (
    context: OperationContext,
  ) => KeyValueExecutor;
}

interface KeyValueExecutor {
  execute(request: Request): Result<unknown>;
}

/** Of a request that has waited for its part. */
export let updateCode: UpdateCode;

/** To be called by the part once it has loaded. */
export function provideUpdates(code: UpdateCode): void {
  updateCode = code;
}
