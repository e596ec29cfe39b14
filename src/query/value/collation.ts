import { type Compare, compareScalars } from './compare-values.ts';

/** The code of collations, which loads with the first. */
export interface Collations {
  readonly orderOf: (collation: string) => Compare;
  readonly collatorOf: (collation: string) => Intl.Collator;
  readonly probeOf: (collation: string) => string;
}

let code: Collations;

/** To be called by the part that has it, once it has loaded. */
export function provideCollations(given: Collations): void {
  code = given;
}

/** A function: another file would keep the first value of what is exported. */
export function collations(): Collations {
  return code;
}

/**
 * The order of values in a collation, which is as `parseCollation` writes it. Without one strings
 * compare by code unit.
 */
export function orderIn(collation: string | undefined): Compare {
  return collation === undefined ? compareScalars : code.orderOf(collation);
}
