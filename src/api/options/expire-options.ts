import { OptionError } from '../../errors/errors.ts';
import type { ExpirySettings, StampSettings } from '../../protocol/settings.ts';
import { type Check, checkOptions, isIndexable, number } from './option-checks.ts';

/** When documents expire: at the time in a field, or so many seconds after it. */
export type ExpireOption =
  | string
  | {
      /** Dotted path of a Date, or `_created_at` or `_updated_at`. */
      field: string;
      /** Seconds after that time, 0 or more. */
      seconds: number;
    };

export const expireOption: Check = {
  allowed: 'a path, or an object with field and seconds',
  test: (value) => typeof value === 'string' || (typeof value === 'object' && value !== null),
};

const checks = {
  field: {
    allowed: 'the path of a Date, `_created_at` or `_updated_at`',
    test: isPathOfDate,
    required: true,
  },
  seconds: {
    ...number('seconds, 0 or more', (value: number) => value >= 0),
    required: true,
  },
};

/**
 * Checks the option `expire_after`.
 *
 * @throws {OptionError} with the place, such as `expire_after.seconds`.
 */
export function parseExpiry(
  option: unknown,
  stamps: Readonly<Record<'created' | 'updated', StampSettings>>,
): ExpirySettings | undefined {
  if (option === undefined) return undefined;
  const given = typeof option === 'string' ? { field: option, seconds: 0 } : option;
  const parsed = checkOptions(given, checks, 'expire_after', 'expire_after.');
  const { field, seconds } = parsed as unknown as ExpirySettings;
  const stamp = field.slice(1, -3) as keyof typeof stamps;
  if (field === `_${stamp}_at` && stamps[stamp]?.at === false)
    throw new OptionError(
      'option_conflict',
      `"expire_after" needs indicate_${stamp}_at: true for ${field}.`,
      { place: 'expire_after' },
    );
  return { field, seconds };
}

/**
 * Managed fields that hold no Date, or one that outlives what it says. In an expression: their list
 * loads later.
 */
const REFUSED =
  /^_(?!(created|updated)_at$)(((un)?archived|created|updated)_(at|timestamp)|archived|updated)(\.|$)/;

function isPathOfDate(path: unknown): boolean {
  return isIndexable(path) && !REFUSED.test(path as string);
}
