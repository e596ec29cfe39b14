export { buildIndexes, storeColumns } from '../documents/index-builder.ts';
export { BackupRequests } from './backup-requests.ts';
export { keptSegments } from './collection-backups.ts';
export { DatabaseRequests } from './database-requests.ts';
export { clearUp, dropCollection, renameAnyway } from './removal.ts';
