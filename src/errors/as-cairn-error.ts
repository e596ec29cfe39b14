import { CairnError } from './cairn-error.ts';

/**
 * Returns Cairn's errors unchanged. Any other error, a defect of Cairn or of a caller's storage driver, becomes the
 * cause of an error with the code `unexpected`.
 */
export function asCairnError(cause: unknown): CairnError {
  if (cause instanceof CairnError) return cause;
  return new CairnError('unexpected', `Unexpected error (${String(cause)}). Please report it.`, {
    cause,
  });
}

/** What a thrown value says. Callers' code may throw anything, such as an object that has no text. */
export function reasonOf(cause: unknown): string {
  try {
    return String((cause as Partial<Error> | undefined)?.message ?? cause);
  } catch {
    return 'something that has no text';
  }
}
