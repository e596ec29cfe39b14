import { type Body, decode } from '../../codec/body.ts';
import { sameValue } from '../../codec/same-value.ts';
import type { StoredRecord } from '../../storage/segments/stored-record.ts';
import type { RecordState } from '../protocol/replica-protocol.ts';

export function stateOf(
  { flags, stamps }: Pick<StoredRecord, 'flags' | 'stamps'>,
  body: Body,
): RecordState {
  return [flags, stamps, body];
}

/** Whether two states are equal. Bodies that were sent and came back are equal strings. */
export function sameState(a: RecordState | undefined, b: RecordState | undefined): boolean {
  if (!a || !b) return a === b;
  const [flags, stamps, body] = a;
  return flags === b[0] && sameValue(stamps, b[1]) && sameBody(body, b[2]);
}

function sameBody(a: Body, b: Body): boolean {
  if (typeof a === 'string' && typeof b === 'string') return a === b;
  return sameValue(decode(a), decode(b));
}
