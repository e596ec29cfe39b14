import { ValueError } from '../../errors/value-error.ts';
import type { StoredRecord } from '../../storage/segments/stored-record.ts';
import type { ExpiryRules } from '../expiry/expiry-rules.ts';
import { ARCHIVED } from '../protocol/managed.ts';
import type { DuplicateKey, IndexSlot } from './index-slot.ts';

/** Another record with a key of this one. One that has expired is removed instead. */
export function duplicateOf(
  slot: IndexSlot,
  record: StoredRecord,
  expiry: ExpiryRules | undefined,
): DuplicateKey | undefined {
  for (;;) {
    const duplicate = slot.duplicateOf(record);
    if (!duplicate || !expiry?.evict(duplicate.owners[0])) return duplicate;
  }
}

/** Why a unique index refuses a document. */
export function refusal(
  collection: string,
  { definition: { name } }: IndexSlot,
  { key, owners: [owner] }: DuplicateKey,
): ValueError {
  return new ValueError(
    'unique_violation',
    `The unique index "${name}" of collection "${collection}" already has ${textOf(key)}, in the document with the _id ${nameOf(owner)}. Change one, or declare the index without unique.`,
    { place: name },
  );
}

/** Why an index cannot be unique. */
export function violation(
  collection: string,
  { definition: { name } }: IndexSlot,
  { key, owners: [a, b] }: DuplicateKey,
): ValueError {
  return new ValueError(
    'unique_violation',
    `The index "${name}" of collection "${collection}" cannot be unique: the documents with the _id ${nameOf(a)} and ${nameOf(b)} both have ${textOf(key)}. Change one, or declare the index without unique.`,
    { place: name },
  );
}

/** Queries do not show an archived one, so the caller may not know of it. */
function nameOf({ key, flags }: StoredRecord): string {
  return `"${key}"${flags & ARCHIVED ? ' (archived)' : ''}`;
}

function textOf(key: unknown): string {
  return JSON.stringify(key, (_, part) => (typeof part === 'bigint' ? `${part}n` : part));
}
