/** Identifies a change. A client numbers the changes of each handle consecutively. */
export interface IdempotencyKey {
  readonly client: string;
  readonly handle: number;
  readonly number: number;
}

/** By handle, the sequence number of the first change in a batch. */
export type FirstSequenceNumbers = readonly (readonly [handle: number, number: number])[];

/** The key of a watermark: a client and one of its handles. */
export function watermarkKey({
  client,
  handle,
}: Pick<IdempotencyKey, 'client' | 'handle'>): string {
  return `${client}#${handle}`;
}

export function parseWatermarkKey(key: string): Pick<IdempotencyKey, 'client' | 'handle'> {
  const at = key.lastIndexOf('#');
  return { client: key.slice(0, at), handle: Number(key.slice(at + 1)) };
}

/** The turn of a change without an acknowledgement: after all others. */
export const UNACKNOWLEDGED = Number.MAX_VALUE;
