import { checkOptions, flag, integer, oneOf } from './option-checks.ts';

/** How strings are ordered, and which of them are equal. */
export type Collation =
  | string
  | {
      /** A language tag such as `'sv'` or `'de-u-co-phonebk'`. */
      locale: string;
      /**
       * What tells strings apart. 1: letters. 2: accents too, so case is ignored. 3: case too.
       * @default 3
       */
      strength?: 1 | 2 | 3 | undefined;
      /** Compares digits as numbers: 2 before 10. @default false, unless the locale says so */
      numeric?: boolean | undefined;
      /** Which case comes first. @default as the locale says */
      caseFirst?: 'upper' | 'lower' | 'off' | undefined;
    };

const checks = {
  locale: { allowed: "the tag of a known language, such as 'sv'", test: isKnown, required: true },
  strength: integer(1, 3, 3),
  numeric: flag,
  caseFirst: oneOf(['upper', 'lower', 'off']),
};

/**
 * Checks a collation, and writes it as `sv 2 numeric upper`, so that equal ones are equal strings.
 *
 * @throws {OptionError} with the place, such as `collation.locale`.
 */
export function parseCollation(given: unknown, place: string): string | undefined {
  if (given === undefined) return undefined;
  const options = typeof given === 'string' ? { locale: given } : given;
  const { locale, strength, numeric, caseFirst } = checkOptions(
    options,
    checks,
    place,
    `${place}.`,
  );
  return [locale, strength, numeric && 'numeric', caseFirst].filter(Boolean).join(' ');
}

function isKnown(locale: unknown): boolean {
  try {
    return Intl.Collator.supportedLocalesOf([locale as string]).length > 0;
  } catch {
    return false;
  }
}
