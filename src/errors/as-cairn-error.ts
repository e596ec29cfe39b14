import { CairnError } from './cairn-error.ts';

/**
 * The error itself if it is one of Cairn's. Anything else is a defect of ours, or comes from a storage driver
 * of the caller; it gets the code `unexpected` and is kept as the cause.
 */
export function asCairnError(cause: unknown): CairnError {
  if (cause instanceof CairnError) return cause;
  return new CairnError(
    'unexpected',
    `Something unforeseen failed (${String(cause)}). Please report it.`,
    { cause },
  );
}
