export type { WireChange } from '../codec/exact-json/wire-changes.ts';
export type { WireDocument } from '../codec/exact-json/wire-documents.ts';
export {
  CairnError,
  type CairnErrorDetails,
  OptionError,
  type OptionErrorCode,
} from '../errors/errors.ts';
export type { PullAnswer } from '../replication/protocol/http-answers.ts';
export type { AccessFilters, Authorization, Authorize, Filter } from './access.ts';
export {
  ServerError,
  type ServerErrorCode,
  type ServerErrorDetails,
} from './failures.ts';
export type { CorsOptions } from './handler.ts';
export { createHandler, type Handler, type HandlerOptions } from './handler.ts';
export { type MemoryStore, memory } from './memory-store.ts';
export { type NodeRequest, type NodeResponse, nodeListener } from './node-listener.ts';
export {
  type PostgresOptions,
  type PostgresStore,
  postgres,
} from './postgres/postgres-store.ts';
export type { Listen } from './postgres/postgres-watch.ts';
export type { Query } from './postgres/sql-state.ts';
export type { ScopeCriteria } from './scopes.ts';
export type { Store, StoredRow, StoreResult, StoreRow } from './store.ts';
