import { ReplicationError } from '../../errors/replication-error.ts';
import type { RecordState } from '../../protocol/record-states.ts';
import type { LocalRow, Push, PushedRow } from '../../protocol/replica-protocol.ts';
import type { LocalChange, PushResult } from '../protocol/remote.ts';
import type { RoundContext } from './round-context.ts';

/** A push as the server gets it. */
export function changeOf(context: RoundContext, row: LocalRow, push: Push): LocalChange {
  const { codec, replica, files } = context;
  const { id, version } = row;
  const state = sentBy(push, row);
  const document = state && codec.toDocument(id, state);
  const operations = row.operations?.[push[0]]?.sent;
  const device = files?.deviceFor(document);
  return {
    ...{ id, base: version, document, key: `${replica}.${push[0]}` },
    ...(operations && { operations }),
    ...(device !== undefined && { device }),
  };
}

export function sentBy([, sent]: Push, { state }: LocalRow): RecordState | undefined {
  return sent === undefined ? state : (sent ?? undefined);
}

/** What the engine notes of an accepted row, which is the last push of its document. */
export function acceptedRow(
  { codec }: RoundContext,
  { id, pushes }: LocalRow,
  { version, document }: Extract<PushResult, { readonly version: string }>,
): PushedRow {
  const [key] = pushes.at(-1) as Push;
  if (document === undefined) return { id, key, version };
  const state = document ? codec.toState(document as never) : undefined;
  return { id, key, version, stored: { state } };
}

/**
 * Pushes rows, in halves where the server refuses them together: one that it does not accept must
 * not block the others.
 *
 * @param tooLarge Called when they are too large together.
 */
export async function sendRows(
  context: RoundContext,
  rows: readonly LocalChange[],
  tooLarge: () => void = () => undefined,
): Promise<readonly PushResult[]> {
  if (rows.length === 0) return [];
  try {
    return await context.remote.push(rows, context.files);
  } catch (error) {
    const code = error instanceof ReplicationError ? error.code : undefined;
    if (code !== 'remote_refused' && code !== 'remote_too_large') throw error;
    if (rows.length === 1) return [{ rejected: { reason: (error as Error).message } }];
    if (code === 'remote_too_large') tooLarge();
    const half = Math.ceil(rows.length / 2);
    return [
      ...(await sendRows(context, rows.slice(0, half), tooLarge)),
      ...(await sendRows(context, rows.slice(half), tooLarge)),
    ];
  }
}
