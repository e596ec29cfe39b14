import { fc } from '../../setup/properties.ts';

/** Collations as `parseCollation` writes them, and what they mean. */
export const COLLATIONS: readonly (readonly [collation: string, collator: Intl.Collator])[] = [
  ['sv 3', new Intl.Collator('sv')],
  ['sv 2', new Intl.Collator('sv', { sensitivity: 'accent' })],
  ['de 1 numeric', new Intl.Collator('de', { sensitivity: 'base', numeric: true })],
  ['en 3 upper', new Intl.Collator('en', { caseFirst: 'upper' })],
  ['de-u-co-phonebk 3', new Intl.Collator('de-u-co-phonebk')],
];

/** Strings that are equal in some collations, or in another order than by code unit. */
export const text = fc.constantFrom<string[]>(
  ...['', 'a', 'A', 'á', 'a\u0301', 'ä', 'Ä', 'ae', 'å', 'b', 'B', 'z', 'Z', '2', '10', '02'],
  ...['a b', 'a-b', 'ab', 'ß', 'ss', '\u0000', '😀', '\uffff', 'İ', 'i'],
);
