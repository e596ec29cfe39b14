import type { Body } from '../../codec/body.ts';
import { sameBody, sameValue } from '../../codec/same-value.ts';
import type { RecordState } from '../../protocol/record-states.ts';
import type { RequestedPatch } from '../../protocol/requests.ts';
import type { StorageOperation } from '../../storage/drivers/driver.ts';
import type { StoredRecord } from '../../storage/segments/stored-record.ts';

/** What a replicated collection tells its replica. */
export interface ReplicaTracker {
  /** Must be called with each change: the replaced version, and the patches that did it. */
  note(id: string, before: StoredRecord | undefined, patches?: readonly RequestedPatch[]): void;
  /**
   * Must be called before a document is removed that has expired.
   *
   * @returns whether it may be removed: a change of it is pushed first, unless the server refuses
   *   it.
   */
  expire(id: string): boolean;
  /** Must be called when all records were replaced, by a backup or a file. */
  noteReplacement(before: readonly StoredRecord[]): void;
  /** Must be called when all records were migrated; some may be gone. */
  noteMigration(before: readonly StoredRecord[]): void;
  /** Must be called after a batch. */
  settle(): void;
  /** Saves what its log alone has to save. */
  save(): Promise<void>;
  /** Ends timers and writes. */
  leave(outcome?: Promise<void>): Promise<void>;
  /** Goes on after that. */
  resume(): void;
  /** Reports to all clients. */
  report(told: { readonly report: unknown }): unknown;
  /** What removes it from storage. */
  removal(): StorageOperation[];
}

export function recordStateOf(
  { flags, stamps }: Pick<StoredRecord, 'flags' | 'stamps'>,
  body: Body,
): RecordState {
  return [flags, stamps, body];
}

export function sameState(a: RecordState | undefined, b: RecordState | undefined): boolean {
  if (!a || !b) return a === b;
  const [flags, stamps, body] = a;
  return flags === b[0] && sameValue(stamps, b[1]) && sameBody(body, b[2]);
}
