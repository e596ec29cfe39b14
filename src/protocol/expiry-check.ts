import { ValueError } from '../errors/errors.ts';
import { valueReader } from '../query/path/own-property.ts';
import { isDate } from '../query/value/value-type.ts';
import { isManaged } from '../storage/segments/stored-record.ts';
import type { CollectionSettings } from './settings.ts';

/** Checks the field of `expire_after` in a document. @throws {ValueError} `expiry_not_a_date` */
export type ExpiryCheck = (document: object, place: string) => void;

/** `undefined` where callers cannot write the field, or nothing expires. */
export function expiryCheck({ expire_after }: CollectionSettings): ExpiryCheck | undefined {
  if (!expire_after || isManaged(expire_after.field)) return undefined;
  const { field } = expire_after;
  const read = valueReader(field);
  return (document, root) => {
    const value = read(document) ?? undefined;
    if (value === undefined || (isDate(value) && !Number.isNaN(value.getTime()))) return;
    const place = `${root}.${field}`;
    const given = isDate(value)
      ? 'an invalid Date'
      : Array.isArray(value)
        ? 'an array'
        : typeof value;
    throw new ValueError(
      'expiry_not_a_date',
      `"${place}" is ${given}, but the option expire_after reads a time there: give a Date, or leave it out for a document that never expires.`,
      { place },
    );
  };
}
