import type { BackupOperations, BackupRead } from './backup-protocol.ts';
import {
  ANY_VERSION,
  COMPARED,
  EDITS,
  FED,
  FIRST_READ,
  HOLDS_QUEUE,
  IN_UPDATES,
  OF_REPLICA,
  ON_BACKUPS,
  PART_OF_FILE,
  READS,
  WAITS,
} from './operation-kinds.ts';
import type { PartName } from './parts.ts';
import type { ReplicaOperations } from './replica-protocol.ts';
import { OPERATIONS, type OperationName, type Request } from './requests.ts';

const has = ({ op }: Pick<Request, 'op'>, property: number) => (OPERATIONS[op] & property) !== 0;

/** Whether it holds the queue. */
export function isExclusive(request: Request): boolean {
  return has(request, HOLDS_QUEUE);
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

/** Whether it passes waiting requests, as a call or the reply to a change waits for it. */
export function isUrgent(batch: readonly Request[]): boolean {
  const mayPass = ({ op, urgent, mayHang }: Request) => urgent || (op === 'liveNext' && !mayHang);
  return batch.length > 0 && batch.every(mayPass);
}

/** Whether its answer, or what it makes, depends on what collections hold. */
export function looksInto(request: Request): boolean {
  if (request.op === 'rollback') return false;
  return isRead(request) || isLong(request) || isChange(request) || request.op === 'live';
}

export function isOfCall(request: Request, call: number): boolean {
  return 'call' in request && request.call === call;
}

export function changedHandles(request: Request): readonly number[] {
  if (request.op !== 'commit') return [request.handle];
  return request.numbers.map(([handle]) => handle);
}

const NONE: readonly PartName[] = [];

/** The parts whose code a request about documents needs. */
export function neededParts(request: Pick<Request, 'op' | 'needs'>): readonly PartName[] {
  const { needs = NONE } = request;
  return isInUpdates(request) ? ['updates', ...needs] : needs;
}

/** Whether the part `updates` executes it. */
export function isInUpdates(request: Pick<Request, 'op'>): boolean {
  return has(request, IN_UPDATES);
}
