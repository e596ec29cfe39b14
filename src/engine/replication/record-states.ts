import type { Body } from '../../codec/body.ts';
import { sameBody, sameValue } from '../../codec/same-value.ts';
import type { StoredRecord } from '../../storage/segments/stored-record.ts';
import type { RecordState } from '../protocol/replica-protocol.ts';

export function stateOf(
  { flags, stamps }: Pick<StoredRecord, 'flags' | 'stamps'>,
  body: Body,
): RecordState {
  return [flags, stamps, body];
}

/** Whether two states are equal. */
export function sameState(a: RecordState | undefined, b: RecordState | undefined): boolean {
  if (!a || !b) return a === b;
  const [flags, stamps, body] = a;
  return flags === b[0] && sameValue(stamps, b[1]) && sameBody(body, b[2]);
}
