import { setAt } from '../../query/path/value-path.ts';
import { parts } from '../parts.ts';

/**
 * Changes decoded fields in place, and returns them. After an error they are of no use.
 *
 * @param now Unix milliseconds, for `$currentDate`.
 * @throws {KeyError} `kind_mismatch`, `key_invalid`
 */
export type ApplyUpdate = (fields: object, now: number) => object;

/** The compiled changes of a patch. */
export interface CompiledPatch {
  readonly apply: ApplyUpdate;
  /** Whether a document that JSON preserves stays one. */
  readonly keepsJson: boolean;
}

/**
 * Compiles the changes of a patch: fields to set, by dotted path, or update operators, whose code
 * is a part.
 *
 * @param isJson Whether JSON preserves the changes.
 * @throws {CriteriaError} of `$pull`, naming the place.
 */
export function compilePatch(changes: object, isJson: boolean): CompiledPatch {
  const entries = Object.entries(changes);
  if (entries[0]?.[0].startsWith('$'))
    return { apply: parts.code('updates').compileUpdate(changes), keepsJson: false };
  return {
    apply: (fields) => {
      for (const [path, value] of entries) setAt(fields, path.split('.'), value, path);
      return fields;
    },
    // A value deeper in the document may exceed the depth of values.
    keepsJson: isJson && !entries.some(([path]) => path.includes('.')),
  };
}
