/** Which of a client's changes it is: clients number those that they make through a handle one after the other. */
export interface IdempotencyKey {
  readonly client: string;
  readonly handle: number;
  readonly number: number;
}

/** By handle, the number of the first change in a batch. */
export type FirstSequenceNumbers = readonly (readonly [handle: number, number: number])[];

/** What marks are kept by: a client and one of its handles. */
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

/** The turn of what nobody has answered: after everything else. */
export const UNACKNOWLEDGED = Number.MAX_VALUE;
