export type { CollectionInfo } from './backup/collection-info.ts';
export type { Defect, VerificationResult } from './backup/segment-verifier.ts';
export type { CollectionUsage } from './backup/usage.ts';
export type {
  ClientOptions,
  ConnectOptions,
  DatabaseOptions,
  MigrateOptions,
} from './client/client-options.ts';
export type { DatabaseClient } from './client/database-client.ts';
export type { DatabaseStorage, StorageStatus, StorageUse } from './client/database-storage.ts';
export type { FileSource, ImportOptions } from './collection/calls/file-bytes.ts';
export type { CollectionConstructor } from './collection/collection-constructor.ts';
export type { BackupOptions, DropOptions } from './collection/collection-handle.ts';
export type { CriteriaOf, DocumentOf, SortOf } from './collection/collection-types.ts';
export type { DocumentCollection } from './collection/document-collection.ts';
export type { BackupView } from './collection/document-queries.ts';
export type {
  AnyDocument,
  Explanation,
  FindOptions,
  ManagedFields,
  MatchOptions,
  NewDocument,
  Params,
  Predicate,
  Read,
  Stamp,
  Stored,
} from './collection/document-types.ts';
export type { Change, ClientStatus, EventMap, EventName, Listener } from './collection/events.ts';
export type { SlowQuery } from './collection/inspection/slow-query.ts';
export type { ItemParams } from './collection/item-params.ts';
export type { KeyValueBackupView, KeyValueCollection } from './collection/key-value-collection.ts';
export type { LiveCountOptions, LiveOptions } from './collection/live/live-options.ts';
export type { LiveQuery } from './collection/live/live-query.ts';
export type { LiveListener, LiveSnapshot } from './collection/live/live-snapshot.ts';
export type {
  CollectionOptions,
  CommonOptions,
  DocumentCollectionOptions,
  DocumentSteps,
  KeyValueCollectionOptions,
  ValueSteps,
} from './collection/options/collection-options.ts';
export type { ExpireOption } from './collection/options/expire-options.ts';
export type { IndexOption } from './collection/options/index-options.ts';
export type {
  SchemaInput,
  SchemaOutput,
  StandardSchema,
} from './collection/schema/standard-schema.ts';
export type { DeepReadonly } from './collection/shared/deep-readonly.ts';
export type { SyncDocuments } from './collection/sync-documents.ts';
export type { SyncKeyValues } from './collection/sync-key-values.ts';
export type {
  DocumentChange,
  FieldChange,
  ValueChange,
} from './collection/time-travel/change-types.ts';
export type { TransactionDocuments } from './collection/transaction/transaction-documents.ts';
export type { TransactionKeyValues } from './collection/transaction/transaction-key-values.ts';
export type { TransactionOptions } from './collection/transaction/transaction-options.ts';
export type { SyncTransaction, Transaction } from './collection/transaction/transaction-types.ts';
export type { ModifyOptions } from './collection/update/modify-attempts.ts';
export type { Patch, PatchFields, Update } from './collection/update/update-types.ts';
export { type Connection, connect } from './connection.ts';
export { Database } from './database.ts';
export type {
  BackupInfo,
  ImportProgress,
  Verification,
} from './engine/protocol/backup-protocol.ts';
export type { Key } from './engine/protocol/key-value-protocol.ts';
export { BackupError, type BackupErrorCode } from './errors/backup-error.ts';
export { CairnError, type CairnErrorDetails } from './errors/cairn-error.ts';
export { CollectionError, type CollectionErrorCode } from './errors/collection-error.ts';
export { CriteriaError, type CriteriaErrorCode } from './errors/criteria-error.ts';
export { KeyError, type KeyErrorCode } from './errors/key-error.ts';
export { MigrationError, type MigrationErrorCode } from './errors/migration-error.ts';
export { OptionError, type OptionErrorCode } from './errors/option-error.ts';
export { StorageError, type StorageErrorCode } from './errors/storage-error.ts';
export { TransactionError, type TransactionErrorCode } from './errors/transaction-error.ts';
export { type SchemaIssue, ValueError, type ValueErrorCode } from './errors/value-error.ts';
export { WorkerError, type WorkerErrorCode } from './errors/worker-error.ts';
export { migrateStorage } from './migrate-storage.ts';
export type { Criteria } from './query/criteria/criteria-types.ts';
export type { KeyRange } from './query/index/key-range.ts';
export type { FieldPath, Path } from './query/path/path-types.ts';
export type { Plan } from './query/plan/plan.ts';
export type { Selected } from './query/projection/select-types.ts';
export type { Direction, Sort } from './query/sort/sort-types.ts';
export type {
  Durability,
  GetItem,
  Storage,
  StorageDriver,
  StorageEvents,
  StorageKey,
  StorageOperation,
  StorageRange,
  StoreName,
} from './storage/drivers/driver.ts';
export { memoryDriver } from './storage/drivers/memory-driver.ts';
