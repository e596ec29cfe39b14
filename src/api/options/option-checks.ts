import { isPlainObject, isRevoked } from '../../codec/kinds.ts';
import { OptionError } from '../../errors/errors.ts';
import { nearestName } from '../../errors/nearest-name.ts';
import { MAX_NAME_LENGTH } from '../../storage/collection-name.ts';

/** The check of an option. */
export interface Check {
  readonly allowed: string;
  readonly test: (value: unknown) => boolean;
  readonly required?: boolean;
  /** The default. */
  readonly fallback?: unknown;
}

export const flag: Check = {
  allowed: 'true or false',
  test: (value) => typeof value === 'boolean',
  fallback: false,
};

/** Names of databases and collections. */
export const name: Check = {
  allowed: `a string of 1 to ${MAX_NAME_LENGTH} characters`,
  test: (value) => typeof value === 'string' && value.length > 0 && value.length <= MAX_NAME_LENGTH,
  required: true,
};

export function oneOf(values: readonly string[], fallback?: string): Check {
  return {
    allowed: values.map((value) => `'${value}'`).join(' or '),
    test: (value) => values.includes(value as string),
    fallback,
  };
}

export function number(
  allowed: string,
  test: (value: number) => boolean,
  fallback?: number,
): Check {
  return { allowed, test: (value) => Number.isFinite(value) && test(value as number), fallback };
}

/** A duration. */
export const milliseconds: Check = number('milliseconds, 0 or more', (value) => value >= 0);

/** At most an hour. */
export function seconds(least: number, fallback?: number): Check {
  return number(`${least} to 3600 seconds`, (value) => value >= least && value <= 3600, fallback);
}

/** A whole number within bounds. */
export function integer(least: number, most?: number, fallback?: number): Check {
  return number(
    `a whole number${most ? ` from ${least} to ${most}` : `, ${least} or more`}`,
    (value) => Number.isSafeInteger(value) && value >= least && !(value > (most as number)),
    fallback,
  );
}

/** Whether an index can have the path. */
export function isIndexable(path: unknown): boolean {
  if (typeof path !== 'string') return false;
  const keys = path.split('.');
  return keys[0] !== '_id' && keys.every((key) => key && key !== '__proto__');
}

/** Whether a value is an AbortSignal, of any realm. */
export function isAbortSignal(value: unknown): value is AbortSignal {
  const { aborted, addEventListener } = (
    isRevoked(value) ? {} : (value ?? {})
  ) as Partial<AbortSignal>;
  return typeof aborted === 'boolean' && typeof addEventListener === 'function';
}

/** The signal in options. Other values are refused along with the other options. */
export function signalIn(options: unknown): AbortSignal | undefined {
  const { signal } = isPlainObject(options) ? options : {};
  return isAbortSignal(signal) ? signal : undefined;
}

/**
 * Checks options and fills in defaults, also for `undefined`.
 *
 * @param taker The function in errors, such as `new Database(options)`.
 * @param path Prefix of an option's name in errors.
 * @throws {OptionError} with the option, the given value and the allowed ones.
 */
export function checkOptions(
  options: unknown,
  checks: Readonly<Record<string, Check>>,
  taker: string,
  path = '',
): Record<string, unknown> {
  // The options in a Map, say, would be ignored silently.
  if (!isPlainObject(options)) {
    const message = `${taker} takes an object of options, not ${describe(options)}.`;
    throw new OptionError('option_invalid', message, { place: taker });
  }
  for (const option of Object.keys(options)) {
    if (Object.hasOwn(checks, option)) continue;
    const known = Object.keys(checks);
    const meant = nearestName(option, known);
    const hint = meant ? `did you mean "${meant}"?` : `there are ${known.join(', ') || 'none'}.`;
    const message = `There is no option "${option}"; ${hint}`;
    throw new OptionError('option_unknown', message, { place: option });
  }
  const settings: Record<string, unknown> = {};
  // Without what another script has added to `Object.prototype`.
  const given: Record<string, unknown> = { __proto__: null, ...options };
  for (const [option, { allowed, test, required, fallback }] of Object.entries(checks)) {
    const place = path + option;
    const value = given[option];
    settings[option] = value === undefined ? fallback : value;
    if (value === undefined && required) {
      throw new OptionError('option_missing', `"${place}" is required: ${allowed}.`, { place });
    }
    if (value !== undefined && !test(isRevoked(value) ? Number.NaN : value)) {
      const message = `"${place}" must be ${allowed}, not ${describe(value)}.`;
      throw new OptionError('option_invalid', message, { place });
    }
  }
  return settings;
}

function describe(value: unknown): string {
  if (typeof value === 'string')
    return value.length > 40 ? `a string of ${value.length} characters` : `'${value}'`;
  if (isRevoked(value)) return 'a revoked proxy';
  if (typeof value === 'function') return 'a function';
  if (Array.isArray(value)) return 'this array';
  if (typeof value !== 'object' || value === null) return String(value);
  return isPlainObject(value) ? 'this object' : 'this instance';
}
