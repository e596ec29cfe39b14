export { BackupRequests } from './backup-requests.ts';
export { DatabaseRequests } from './database-requests.ts';
export { renameStored } from './rename.ts';
