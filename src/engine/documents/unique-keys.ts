import { ValueError } from '../../errors/value-error.ts';
import type { StoredRecord } from '../../storage/segments/stored-record.ts';
import type { ExpiryRules } from '../expiry/expiry-rules.ts';
import type { DuplicateKey, IndexSlot } from './index-slot.ts';

/** Another record with a key of this one. One that has expired is removed instead. */
export function duplicateOf(
  slot: IndexSlot,
  record: StoredRecord,
  expiry: ExpiryRules | undefined,
): DuplicateKey | undefined {
  for (;;) {
    const duplicate = slot.duplicateOf(record);
    if (!duplicate || !expiry?.evict(duplicate.owner)) return duplicate;
  }
}

/** Why a unique index refuses a document. */
export function refusal(
  collection: string,
  { definition: { name } }: IndexSlot,
  { key, ids: [id] }: DuplicateKey,
): ValueError {
  return new ValueError(
    'unique_violation',
    `The unique index "${name}" of collection "${collection}" already has ${textOf(key)}, in the document with the _id "${id}". Change one, or declare the index without unique.`,
    { place: name },
  );
}

/** Why an index cannot be unique. */
export function violation(
  collection: string,
  { definition: { name } }: IndexSlot,
  { key, ids: [a, b] }: DuplicateKey,
): ValueError {
  return new ValueError(
    'unique_violation',
    `The index "${name}" of collection "${collection}" cannot be unique: the documents with the _id "${a}" and "${b}" both have ${textOf(key)}. Change one, or declare the index without unique.`,
    { place: name },
  );
}

function textOf(key: unknown): string {
  return JSON.stringify(key, (_, part) => (typeof part === 'bigint' ? `${part}n` : part));
}
