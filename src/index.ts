export type {
  AggregateOptions,
  LiveAggregateOptions,
  PipelineStage,
} from './api/aggregate-types.ts';
export type {
  AnyDocument,
  CriteriaOf,
  DeepReadonly,
  DocumentChange,
  DocumentOf,
  Explanation,
  FieldChange,
  FindOptions,
  Id,
  IdOf,
  ItemParams,
  ManagedFields,
  MatchOptions,
  NewDocument,
  Params,
  Predicate,
  Read,
  SortOf,
  Stamp,
  Stored,
  ValueChange,
} from './api/document-types.ts';
export type {
  Change,
  ClientStatus,
  EventMap,
  EventName,
  Listener,
  SlowQuery,
} from './api/events.ts';
export type {
  LiveCountOptions,
  LiveListener,
  LiveOptions,
  LiveSnapshot,
  WatchHandlers,
} from './api/live-options.ts';
export type {
  HybridHit,
  HybridHits,
  HybridOptions,
  NearestExplanation,
  NearestHit,
  NearestHits,
  NearestOptions,
} from './api/nearest-types.ts';
export type {
  ClientOptions,
  ConnectOptions,
  DatabaseOptions,
  DatabaseStorage,
  MigrateOptions,
  StorageStatus,
  StorageUse,
} from './api/options/client-options.ts';
export type { Collation } from './api/options/collation.ts';
export type {
  CollectionOptions,
  CommonOptions,
  DocumentCollectionOptions,
  DocumentSteps,
  KeyValueCollectionOptions,
  RelationOption,
  RelationOptions,
  ValueSteps,
} from './api/options/collection-options.ts';
export type { ExpireOption } from './api/options/expire-options.ts';
export type { IndexOption } from './api/options/index-options.ts';
export type { TextIndexOption, VectorIndexOption } from './api/options/special-indexes.ts';
export type { AnyRelations, IncludeOptions, Related } from './api/relation-types.ts';
export type {
  LiveSearchOptions,
  SearchExplanation,
  SearchHit,
  SearchHits,
  SearchOptions,
  Suggestion,
} from './api/search-types.ts';
export type {
  SchemaInput,
  SchemaOutput,
  StandardSchema,
} from './api/standard-schema.ts';
export type { TransactionOptions } from './api/transaction-options.ts';
export type { Patch, PatchFields, Update } from './api/update-types.ts';
export type { Defect, VerificationResult } from './backup/segment-verifier.ts';
export type { CollectionInfo, CollectionUsage } from './backup/usage.ts';
export { type Connection, connect } from './connection.ts';
export { Database } from './database.ts';
export {
  BackupError,
  type BackupErrorCode,
  CairnError,
  type CairnErrorDetails,
  CollectionError,
  type CollectionErrorCode,
  CriteriaError,
  type CriteriaErrorCode,
  KeyError,
  type KeyErrorCode,
  MigrationError,
  type MigrationErrorCode,
  OptionError,
  type OptionErrorCode,
  type SchemaIssue,
  StorageError,
  type StorageErrorCode,
  TransactionError,
  type TransactionErrorCode,
  ValueError,
  type ValueErrorCode,
  WorkerError,
  type WorkerErrorCode,
} from './errors/errors.ts';
export { migrateStorage } from './migrate-storage.ts';
export type { FileSource, ImportOptions } from './page/calls/file-bytes.ts';
export type { ModifyOptions } from './page/calls/modify-attempts.ts';
export type { DatabaseClient } from './page/client/database-client.ts';
export type { CollectionConstructor } from './page/collections/collection-constructor.ts';
export type { BackupOptions, DropOptions } from './page/collections/collection-handle.ts';
export type { BackupView, DocumentCollection } from './page/collections/document-collection.ts';
export type {
  KeyValueBackupView,
  KeyValueCollection,
} from './page/collections/key-value-collection.ts';
export type { SyncDocuments, SyncKeyValues } from './page/collections/sync-methods.ts';
export type { LiveQuery } from './page/live/live-query.ts';
export type {
  SyncTransaction,
  Transaction,
  TransactionDocuments,
  TransactionKeyValues,
} from './page/transactions/transaction-types.ts';
export type {
  BackupInfo,
  ImportProgress,
  Verification,
} from './protocol/backup-protocol.ts';
export type { Key } from './protocol/key-value-protocol.ts';
export type { Criteria } from './query/criteria/criteria-types.ts';
export type {
  AccumulatorExpression,
  Expression,
} from './query/expression-types.ts';
export type { KeyRange } from './query/index/key-range.ts';
export type { Direction, FieldPath, Path, Sort } from './query/path/path-types.ts';
export type { Plan } from './query/plan/plan.ts';
export type { Selected } from './query/projection.ts';
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
