import type { BackupOperations, BackupRead } from './backup-protocol.ts';
import type { ReplicaOperations } from './replica-protocol.ts';
import type { OperationName, Request } from './requests.ts';

/** It changes nothing: there is nothing to save or to report after it. */
const READS = 1;
/** It changes documents or values. */
const EDITS = 2;
/** It holds the queue: while it waits, later requests wait too. */
const HOLDS_QUEUE = 4;
/** It is about backups, and queues. */
const ON_BACKUPS = 8;
/**
 * It is a part of a file, executed at once: a file may be imported into the collection that exports
 * it.
 */
const PART_OF_FILE = 16;
/** Handles of any version may ask for it: it migrates, undoes a migration, or ends something. */
const ANY_VERSION = 32;
/** A collection that is opening may answer it from its checkpoint. */
const FIRST_READ = 64;
/** Parts follow that belong to it. */
const FED = 128;
/**
 * It replaces only the version that it names; the reply is `false` where there is another by now.
 */
const COMPARED = 256;
/** It is about a replica. It waits for storage, and nothing must come in between. */
const OF_REPLICA = 512;
/** It waits for storage, or for others: a batch with it would be answered as late. */
const WAITS = 1024;

/** An edit that may have to read before it writes. An `insert` never waits. */
const READING_EDIT = EDITS | HOLDS_QUEUE;

/**
 * What each operation does. One without a property is executed as it comes, and waits by itself.
 */
const OPERATIONS: Readonly<Record<OperationName, number>> = {
  open: HOLDS_QUEUE | ANY_VERSION,
  ready: WAITS,
  save: WAITS,
  drop: HOLDS_QUEUE | WAITS,
  rename: WAITS,
  abort: 0,
  collections: WAITS,
  usage: WAITS,
  exportAll: WAITS,
  importAll: WAITS,
  commit: 0,
  rollback: 0,

  get: READS | FIRST_READ,
  getMany: READS | FIRST_READ,
  getShared: READS,
  getVersion: READS,
  scan: READS | FIRST_READ,
  scanNext: READS,
  scanEnd: READS | ANY_VERSION,
  count: READS | FIRST_READ,
  explain: READS,
  kvGet: READS,
  kvGetVersion: READS,
  kvMatch: READS,
  kvPreview: READS,
  kvKeys: READS,
  kvEntries: READS,
  live: 0,
  liveNext: 0,
  liveEnd: ANY_VERSION,

  insert: EDITS,
  insertPart: EDITS,
  insertAbandon: ANY_VERSION,
  upsert: EDITS,
  update: EDITS,
  replaceIf: EDITS | COMPARED,
  delete: EDITS,
  patch: READING_EDIT,
  patchMany: READING_EDIT,
  archive: READING_EDIT,
  unarchive: READING_EDIT,
  deleteMany: READING_EDIT,
  kvSet: READING_EDIT,
  kvDelete: READING_EDIT,
  kvPush: READING_EDIT,
  kvAdd: READING_EDIT,
  kvRemove: READING_EDIT,
  kvReplace: READING_EDIT | COMPARED,

  createBackup: ON_BACKUPS | HOLDS_QUEUE | ANY_VERSION,
  listBackups: ON_BACKUPS | ANY_VERSION,
  loadBackup: ON_BACKUPS | HOLDS_QUEUE | ANY_VERSION,
  deleteBackup: ON_BACKUPS | HOLDS_QUEUE,
  verify: ON_BACKUPS | ANY_VERSION,
  exportBackup: ON_BACKUPS | ANY_VERSION,
  diffBackups: ON_BACKUPS,
  importBackup: ON_BACKUPS | HOLDS_QUEUE | FED,
  migrate: ON_BACKUPS | HOLDS_QUEUE | FED | ANY_VERSION,
  importPart: PART_OF_FILE,
  exportNext: PART_OF_FILE,
  exportEnd: PART_OF_FILE,
  viewEnd: PART_OF_FILE,
  migratePart: PART_OF_FILE,

  replicaOpen: OF_REPLICA,
  replicaReport: OF_REPLICA,
  replicaChanges: OF_REPLICA,
  replicaApply: OF_REPLICA,
  replicaPushed: OF_REPLICA,
  replicaRevert: OF_REPLICA,
  replicaEnd: OF_REPLICA,
};

const has = ({ op }: Request, property: number) => (OPERATIONS[op] & property) !== 0;

/** Whether it holds the queue. */
export function isExclusive(request: Request): boolean {
  return has(request, HOLDS_QUEUE | OF_REPLICA);
}

/** Whether it takes longer than what is resident, so that nothing travels with it. */
export function isLong(request: Request): boolean {
  return has(request, WAITS | ON_BACKUPS | OF_REPLICA) || isOfBackup(request);
}

/** Whether handles of any version may ask for it. */
export function isOfAnyVersion(op: OperationName): boolean {
  return (OPERATIONS[op] & ANY_VERSION) !== 0;
}

/** Whether a collection that is opening may answer it. */
export function isFirstRead(request: Request): boolean {
  return has(request, FIRST_READ);
}

/** Whether it is executed in a transaction: it changes nothing before the commit. */
function isStaged({ op, transaction }: Request): boolean {
  return transaction !== undefined && op !== 'commit';
}

/** Whether it changes documents or values, at once or with a commit. */
export function isEditing(op: OperationName): boolean {
  return (OPERATIONS[op] & EDITS) !== 0;
}

/** Whether it changes documents or values, at once and by itself. */
export function isEdit(request: Request): boolean {
  return has(request, EDITS) && !isStaged(request);
}

/** Whether it replaces only the version that it names. */
export function isCompared(request: Request): request is Request<'replaceIf' | 'kvReplace'> {
  return has(request, COMPARED);
}

export function isRead(request: Request): boolean {
  return has(request, READS) || isStaged(request);
}

export type BackupRequest = Request<keyof BackupOperations>;

export function isOfReplica(request: Request): request is Request<keyof ReplicaOperations> {
  return has(request, OF_REPLICA);
}

type PartOfFile = 'importPart' | 'exportNext' | 'exportEnd' | 'viewEnd' | 'migratePart';

export function isOnBackups(
  request: Request,
): request is Request<Exclude<keyof BackupOperations, PartOfFile>> | ReadOfBackup {
  return has(request, ON_BACKUPS) || isOfBackup(request);
}

/** A request that reads a backup, and not the collection. */
export type ReadOfBackup = Request & { readonly at: BackupRead };

export function isOfBackup(request: Request): request is ReadOfBackup {
  return request.at !== undefined;
}

export function isPartOfFile(request: Request): request is Request<PartOfFile> {
  return has(request, PART_OF_FILE);
}

/** Whether parts follow that belong to it. */
export function isFed(request: Request): request is Request<'importBackup' | 'migrate'> {
  return has(request, FED);
}

/** Whether it changes something in collections. */
export function isChange(request: Request): boolean {
  return request.op === 'commit' || isEdit(request);
}

/**
 * Whether it passes waiting requests: a running call waits for it, or the reply to a change, which
 * follows the news.
 */
export function isUrgent(batch: readonly Request[]): boolean {
  const mayPass = ({ op, urgent, mayHang }: Request) => urgent || (op === 'liveNext' && !mayHang);
  return batch.length > 0 && batch.every(mayPass);
}

/** Whether it belongs to the call with this number. */
export function isOfCall(request: Request, call: number): boolean {
  return 'call' in request && request.call === call;
}

/** The handles through which a numbered request changes something. */
export function changedHandles(request: Request): readonly number[] {
  if (request.op !== 'commit') return [request.handle];
  return request.numbers.map(([handle]) => handle);
}
