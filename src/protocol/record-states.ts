import type { Body } from '../codec/body.ts';
import { STAMPS, type Stamps } from '../storage/segments/stored-record.ts';
import { ARCHIVED, UPDATED } from './managed.ts';

/** A document or value as its record holds it; `undefined` where there is none. */
export type RecordState = readonly [flags: number, stamps: Stamps | undefined, body: Body];

type Fields = Readonly<Record<string, unknown>>;

/**
 * The state of a document as it travels, with the managed fields that say something.
 *
 * @param own Its other fields.
 */
export function stateOfDocument(document: Fields, own: Body): RecordState {
  const flags =
    (document._updated === true ? UPDATED : 0) | (document._archived === true ? ARCHIVED : 0);
  const instants = STAMPS.map(({ setting }) => instantOf(document[`_${setting}_at`]));
  const stamps = instants.some(Boolean) ? (instants as unknown as Stamps) : undefined;
  return [flags, stamps, own];
}

function instantOf(value: unknown): number {
  const instant = value instanceof Date ? value.getTime() : 0;
  return Number.isFinite(instant) ? instant : 0;
}
