import type { BackupOperations, BackupRead } from './backup-protocol.ts';
import type { ReplicaOperations } from './replica-protocol.ts';
import type { OperationName, Request } from './requests.ts';

/** Edits that may have to read before they write. */
const READING_EDITS = [
  'patch',
  'patchMany',
  'archive',
  'unarchive',
  'deleteMany',
  'kvSet',
  'kvDelete',
  'kvPush',
  'kvAdd',
  'kvRemove',
  'kvReplace',
] as const;

/** Operations that hold the queue: while they wait, later requests wait too. An `insert` never waits. */
const EXCLUSIVE: ReadonlySet<OperationName> = new Set<OperationName>([
  ...READING_EDITS,
  'open',
  'drop',
  'createBackup',
  'loadBackup',
  'deleteBackup',
  'importBackup',
  'migrate',
]);

/** Operations that change documents or values. */
const EDITS: ReadonlySet<OperationName> = new Set<OperationName>([
  'insert',
  'insertPart',
  'upsert',
  'update',
  'replaceIf',
  'delete',
  ...READING_EDITS,
]);

/** Operations without changes: nothing to save or to report after them. */
const READS: ReadonlySet<OperationName> = new Set<OperationName>([
  'get',
  'getMany',
  'getShared',
  'getVersion',
  'scan',
  'scanNext',
  'scanEnd',
  'count',
  'explain',
  'kvGet',
  'kvGetVersion',
  'kvMatch',
  'kvPreview',
  'kvKeys',
  'kvEntries',
]);

/** Operations on backups that queue. */
const ON_BACKUPS: ReadonlySet<OperationName> = new Set<keyof BackupOperations>([
  'createBackup',
  'listBackups',
  'loadBackup',
  'deleteBackup',
  'verify',
  'exportBackup',
  'diffBackups',
  'importBackup',
  'migrate',
]);

/** Parts of files, executed at once: a file may be imported into the very collection that exports it. */
const PARTS_OF_FILES: ReadonlySet<OperationName> = new Set<PartOfFile>([
  'importPart',
  'exportNext',
  'exportEnd',
  'viewEnd',
  'migratePart',
]);

/** Whether it holds the queue. Replication waits for storage, and nothing must come in between. */
export function isExclusive(request: Request): boolean {
  return EXCLUSIVE.has(request.op) || isOfReplica(request);
}

/** Whether it is executed in a transaction: it changes nothing before the commit. */
function isStaged({ op, transaction }: Request): boolean {
  return transaction !== undefined && op !== 'commit';
}

/** Whether it changes documents or values, at once or with a commit. */
export function isEditing(op: OperationName): boolean {
  return EDITS.has(op);
}

/** Whether it changes documents or values, at once and by itself. */
export function isEdit(request: Request): boolean {
  return EDITS.has(request.op) && !isStaged(request);
}

/** Whether it replaces only the version that it names; the reply is `false` where there is another by now. */
export function isCompared(request: Request): request is Request<'replaceIf' | 'kvReplace'> {
  return request.op === 'replaceIf' || request.op === 'kvReplace';
}

export function isRead(request: Request): boolean {
  return READS.has(request.op) || isStaged(request);
}

export type BackupRequest = Request<keyof BackupOperations>;

export function isOfReplica(request: Request): request is Request<keyof ReplicaOperations> {
  return request.op.startsWith('replica');
}

type PartOfFile = 'importPart' | 'exportNext' | 'exportEnd' | 'viewEnd' | 'migratePart';

export function isOnBackups(
  request: Request,
): request is Request<Exclude<keyof BackupOperations, PartOfFile>> | ReadOfBackup {
  return ON_BACKUPS.has(request.op) || isOfBackup(request);
}

/** A request that reads a backup, and not the collection. */
export type ReadOfBackup = Request & { readonly at: BackupRead };

export function isOfBackup(request: Request): request is ReadOfBackup {
  return request.at !== undefined;
}

export function isPartOfFile(request: Request): request is Request<PartOfFile> {
  return PARTS_OF_FILES.has(request.op);
}

/** Whether parts follow that belong to it. */
export function isFed(request: Request): request is Request<'importBackup' | 'migrate'> {
  return request.op === 'importBackup' || request.op === 'migrate';
}

/** Whether it changes something in collections. */
export function isChange(request: Request): boolean {
  return request.op === 'commit' || isEdit(request);
}

/** Whether it passes waiting requests: a running call waits for it, or the reply to a change, which follows the news. */
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
