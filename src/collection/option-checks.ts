import { nearestName } from '../errors/nearest-name.ts';
import { OptionError } from '../errors/option-error.ts';

/** What an option may be. */
export interface Check {
  readonly allowed: string;
  readonly test: (value: unknown) => boolean;
}

export const flag: Check = {
  allowed: 'true or false',
  test: (value) => typeof value === 'boolean',
};

/** Names of databases and collections. */
export const name: Check = {
  allowed: 'a string of 1 to 128 characters',
  test: (value) => typeof value === 'string' && value.length > 0 && value.length <= 128,
};

export function oneOf(values: readonly string[]): Check {
  return {
    allowed: values.map((value) => `'${value}'`).join(' or '),
    test: (value) => values.includes(value as string),
  };
}

export function number(allowed: string, test: (value: number) => boolean): Check {
  return {
    allowed,
    test: (value) => typeof value === 'number' && Number.isFinite(value) && test(value),
  };
}

export function integer(allowed: string, test: (value: number) => boolean): Check {
  return { allowed, test: (value) => Number.isSafeInteger(value) && test(value as number) };
}

/** Whether it can abort something; of whatever realm. */
export function isAbortSignal(value: unknown): value is AbortSignal {
  const { aborted, addEventListener } = (value ?? {}) as Partial<AbortSignal>;
  return typeof aborted === 'boolean' && typeof addEventListener === 'function';
}

/** Refuses anything but an object with known options. */
export function checkKnown(
  options: unknown,
  known: object,
  place: string,
): Record<string, unknown> {
  if (typeof options !== 'object' || options === null || Array.isArray(options)) {
    throw new OptionError(
      'option_invalid',
      `${place} takes an object of options, not ${describe(options)}.`,
      { place },
    );
  }
  for (const option of Object.keys(options)) {
    if (Object.hasOwn(known, option)) continue;
    const meant = nearestName(option, Object.keys(known));
    const message = `There is no option "${option}"; did you mean "${meant}"?`;
    throw new OptionError('option_unknown', message, { place: option });
  }
  return options as Record<string, unknown>;
}

/** Refuses an option that is missing or out of range. `undefined` counts as left out. */
export function check(
  given: Record<string, unknown>,
  option: string,
  { allowed, test }: Check,
  required = false,
): void {
  const value = given[option];
  if (value === undefined) {
    if (!required) return;
    throw new OptionError('option_missing', `"${option}" is required: ${allowed}.`, {
      place: option,
    });
  }
  if (test(value)) return;
  throw new OptionError(
    'option_invalid',
    `"${option}" must be ${allowed}, not ${describe(value)}.`,
    {
      place: option,
    },
  );
}

function describe(value: unknown): string {
  if (typeof value === 'string')
    return value.length > 40 ? `a string of ${value.length} characters` : `'${value}'`;
  if (typeof value === 'function') return 'a function';
  if (Array.isArray(value)) return 'an array';
  return typeof value === 'object' && value !== null ? 'an object' : String(value);
}
