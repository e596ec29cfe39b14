/** Details of an error besides its message. */
export interface CairnErrorDetails {
  /** The place of the error: an option's name, a path inside a document, a collection. */
  readonly place?: string | undefined;
  /** The underlying error, such as a DOMException of IndexedDB. */
  readonly cause?: unknown;
}

/**
 * Base of every error that Cairn throws or rejects with.
 *
 * `code` is stable: it changes only with a major version. `message` is for people, says what to do,
 * and may change at any time.
 *
 * @example
 * ```ts
 * try {
 *   await users.insert({ _id: 'ada' });
 * } catch (error) {
 *   if (error instanceof CairnError && error.code === 'id_taken') await users.update('ada', {});
 *   else throw error;
 * }
 * ```
 */
export class CairnError<Code extends string = string> extends Error {
  static {
    this.prototype.name = 'CairnError';
  }

  readonly code: Code;
  readonly place: string | undefined;

  constructor(code: Code, message: string, details: CairnErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.code = code;
    this.place = details.place;
  }
}

/**
 * Returns Cairn's errors unchanged. Any other error, a defect of Cairn or of a caller's storage
 * driver, becomes the cause of an error with the code `unexpected`.
 */
export function asCairnError(cause: unknown): CairnError {
  if (cause instanceof CairnError) return cause;
  return new CairnError('unexpected', `Unexpected error (${String(cause)}). Please report it.`, {
    cause,
  });
}

/** What a thrown value says, which may be an object without a text. */
export function reasonOf(cause: unknown): string {
  try {
    return String((cause as Partial<Error> | undefined)?.message ?? cause);
  } catch {
    return 'something that has no text';
  }
}

/** The collection, or its client, is not in a state that allows the call. */
export class CollectionError extends CairnError<CollectionErrorCode> {
  static {
    this.prototype.name = 'CollectionError';
  }
}

export function notInMemory(place: string | undefined, why: string): CollectionError {
  const message = `collection.sync of "${place}" cannot be used here: ${why}.`;
  return new CollectionError('sync_unavailable', message, { place });
}

/** Codes of {@link CollectionError}. */
export type CollectionErrorCode =
  | 'type_mismatch'
  | 'drop_disabled'
  | 'collection_dropped'
  | 'collection_renamed'
  | 'collection_missing'
  | 'document_missing'
  | 'name_taken'
  | 'closed'
  | 'sync_unavailable'
  | 'answer_lost'
  | 'change_lost'
  | 'index_missing'
  | 'insert_lost'
  | 'schema_newer'
  | 'schema_older'
  | 'undo_gone';

/** Codes of {@link CriteriaError}. */
export type CriteriaErrorCode =
  | 'aggregate_too_large'
  | 'after_unknown'
  | 'criteria_invalid'
  | 'operator_unknown'
  | 'operand_invalid'
  | 'pattern_too_long'
  | 'pipeline_invalid'
  | 'predicate_async'
  | 'select_invalid'
  | 'sort_invalid'
  | 'subject_too_long';

/** Criteria, a sort, a selection or a predicate is invalid; `place` is the path inside it. */
export class CriteriaError extends CairnError<CriteriaErrorCode> {
  static {
    this.prototype.name = 'CriteriaError';
  }
}

/**
 * Names the collection in the message of a {@link CriteriaError}, once; other errors stay as they
 * are.
 */
export function nameCollection(error: unknown, collection: string): unknown {
  const prefix = `Collection "${collection}": `;
  if (!(error instanceof CriteriaError) || error.message.startsWith(prefix)) return error;
  const { message, stack } = error;
  error.message = prefix + message;
  // The stack contains the old message.
  if (stack) error.stack = stack.replace(message, () => error.message);
  return error;
}

/** Codes of {@link KeyError}. */
export type KeyErrorCode = 'key_invalid' | 'kind_mismatch' | 'paths_conflict';

/** A key or a path is malformed, conflicts with another, or leads to a value of the wrong kind. */
export class KeyError extends CairnError<KeyErrorCode> {
  static {
    this.prototype.name = 'KeyError';
  }
}

/** Whether a replayed change was refused for now: storage fails, or code did not load. */
export function mayPass(error: unknown): boolean {
  return error instanceof StorageError || (error as CairnError).code === 'load_failed';
}

/**
 * Codes of failures of storage that may pass. Others need somebody to do something: free space,
 * update the app, give another key.
 */
export const PASSING: readonly string[] = ['storage_failed', 'storage_lost', 'storage_timeout'];

/** Whether what failed may succeed without anybody doing something. */
export function isPassing(error: unknown): boolean {
  const { code } = error as CairnError;
  return code === 'load_failed' || PASSING.includes(code);
}

/** @throws {CairnError} `load_failed` */
export function loadFailed(cause: unknown): never {
  throw new CairnError(
    'load_failed',
    'ServiceWorkerGlobalScope' in globalThis
      ? "Service workers have no import(): import 'cairndb/static', or bundle it."
      : 'A part of Cairn did not load: call again online, or reload.',
    { cause },
  );
}

/** Codes of {@link MigrationError}. */
export type MigrationErrorCode = 'migration_failed';

/**
 * The documents of a collection could not be migrated; `place` is the id or key of the document.
 * Nothing was changed.
 */
export class MigrationError extends CairnError<MigrationErrorCode> {
  static {
    this.prototype.name = 'MigrationError';
  }

  /** The version whose step failed; the last where the result of all steps is refused. */
  declare readonly version: number;
}

export function migrationFailed(
  version: number,
  message: string,
  place: string | undefined,
  cause: unknown,
): MigrationError {
  const error = new MigrationError('migration_failed', message, { place, cause });
  return Object.assign(error, { version });
}

/** Codes of {@link OptionError}. */
export type OptionErrorCode =
  | 'option_missing'
  | 'option_unknown'
  | 'option_invalid'
  | 'option_conflict'
  | 'peer_unsupported'
  | 'schema_failed'
  | 'migration_gap'
  | 'relation_invalid'
  | 'include_too_deep';

/**
 * An option of a client or a collection is missing, unknown, contradictory or out of range, or a
 * schema that does not work.
 */
export class OptionError extends CairnError<OptionErrorCode> {
  static {
    this.prototype.name = 'OptionError';
  }
}

/** Codes of {@link TransactionError}. */
export type TransactionErrorCode =
  | 'transaction_conflict'
  | 'transaction_expired'
  | 'transaction_misused'
  | 'transaction_over'
  | 'transaction_too_large';

/** A transaction, or a `modify`, could not be made; `place` is the collection, document or key. */
export class TransactionError extends CairnError<TransactionErrorCode> {
  static {
    this.prototype.name = 'TransactionError';
  }
}

/** Codes of {@link WorkerError}. */
export type WorkerErrorCode =
  | 'query_hung'
  | 'scan_lost'
  | 'worker_start_failed'
  | 'worker_lost'
  | 'worker_unresponsive';

/** The engine's worker did not start, died, stopped answering, or was restarted. */
export class WorkerError extends CairnError<WorkerErrorCode> {
  static {
    this.prototype.name = 'WorkerError';
  }
}

/** Codes of {@link StorageError}. */
export type StorageErrorCode =
  | 'storage_unavailable'
  | 'storage_full'
  | 'storage_lost'
  | 'storage_failed'
  | 'storage_timeout'
  | 'storage_moved'
  | 'directory_unusable'
  | 'driver_missing'
  | 'storage_evicted'
  | 'database_busy'
  | 'database_taken'
  | 'database_destroyed'
  | 'format_newer'
  | 'encryption_unavailable'
  | 'key_missing'
  | 'key_not_derived'
  | 'key_wrong'
  | 'not_encrypted'
  | 'data_damaged'
  | 'data_foreign';

/** Storage could not be opened, read or written. */
export class StorageError extends CairnError<StorageErrorCode> {
  static {
    this.prototype.name = 'StorageError';
  }
}

/** Codes of {@link ValueError}. */
export type ValueErrorCode =
  | 'document_invalid'
  | 'value_unsupported'
  | 'value_cyclic'
  | 'value_too_deep'
  | 'key_forbidden'
  | 'id_invalid'
  | 'id_taken'
  | 'unique_violation'
  | 'expiry_not_a_date'
  | 'update_invalid'
  | 'vector_invalid'
  | 'schema_violation';

/** Why a schema refuses a document or value, at one place. */
export interface SchemaIssue {
  /**
   * The keys that lead to the place, such as `['items', 0, 'name']`; empty for the document or
   * value as a whole.
   */
  readonly path: readonly (string | number)[];
  /** What the schema says. */
  readonly message: string;
}

/** A document, value, id or key cannot be stored; `place` is the path of the invalid part. */
export class ValueError extends CairnError<ValueErrorCode> {
  static {
    this.prototype.name = 'ValueError';
  }

  /** Of `schema_violation`: why the schema refuses the document or value. */
  declare readonly issues?: readonly SchemaIssue[];
}

/** Codes of {@link BackupError}. */
export type BackupErrorCode =
  | 'backup_unknown'
  | 'backup_damaged'
  | 'document_unknown'
  | 'view_closed'
  | 'export_lost'
  | 'import_lost'
  | 'file_several'
  | 'file_not_gzip'
  | 'file_not_cairn'
  | 'file_newer'
  | 'file_truncated'
  | 'file_damaged'
  | 'file_stalled'
  | 'file_unsupported'
  | 'record_too_large';

/**
 * A backup or its file is missing, or cannot be read or written; `place` is the collection, the
 * line or the document. The collection is unchanged.
 */
export class BackupError extends CairnError<BackupErrorCode> {
  static {
    this.prototype.name = 'BackupError';
  }
}

export function closedError(database: string): CollectionError {
  return new CollectionError('closed', `Database "${database}" was closed; open it again.`, {
    place: database,
  });
}

/** Invalid content of JSON. The message is a clause; the caller adds where it stands. */
export class Malformed extends Error {}
