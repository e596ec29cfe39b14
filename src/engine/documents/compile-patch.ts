import type { Result } from '../../async/coroutine.ts';
import type { Request } from '../../protocol/requests.ts';
import { setAt } from '../../query/path/value-path.ts';
import type { OperationContext } from '../collection-context.ts';

/**
 * Changes decoded fields in place, and returns them. After an error they are of no use.
 *
 * @param now Unix milliseconds, for `$currentDate`.
 * @throws {KeyError} `kind_mismatch`, `key_invalid`
 */
export type ApplyUpdate = (fields: object, now: number) => object;

/** What the changes of a patch refer to. */
export interface UpdateSource {
  /** Filters of items, by the names that paths give them: `$[name]`. */
  readonly filters?: readonly object[] | undefined;
  /** The criteria that have found the document: `$` is the first item that they match. */
  readonly criteria?: object | undefined;
  /** Of the criteria and filters. */
  readonly collation?: string | undefined;
  /** Whether the document is a new one, which `$setOnInsert` is for. */
  readonly inserts?: boolean;
}

/** The code of update operators, which loads with the first. */
interface UpdateCode {
  /**
   * Compiles update operators.
   *
   * @throws {CriteriaError} of `$pull` or a filter; {ValueError} `update_invalid` of a filter.
   */
  compileUpdate(changes: object, source?: UpdateSource): ApplyUpdate;
  /**
   * What an upsert by criteria begins with.
   *
   * @throws {KeyError} `paths_conflict`; {ValueError} `id_invalid`
   */
  describedBy(criteria: object): { readonly id: string | undefined; readonly fields: object };
  /** The store of a key-value collection, which waits for this code as it opens. */
  readonly KeyValueStore: new (
    context: OperationContext,
  ) => KeyValueExecutor;
}

interface KeyValueExecutor {
  execute(request: Request): Result<unknown>;
}

/** Of a request that has waited for its part. */
export let updateCode: UpdateCode;

/** To be called by the part once it has loaded. */
export function provideUpdates(code: UpdateCode): void {
  updateCode = code;
}

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
export function compilePatch(
  changes: object,
  isJson: boolean,
  source?: UpdateSource,
): CompiledPatch {
  const entries = Object.entries(changes);
  if (entries[0]?.[0].startsWith('$'))
    return { apply: updateCode.compileUpdate(changes, source), keepsJson: false };
  return {
    apply: (fields) => {
      for (const [path, value] of entries) setAt(fields, path.split('.'), value, path);
      return fields;
    },
    // A value deeper in the document may exceed the depth of values.
    keepsJson: isJson && !entries.some(([path]) => path.includes('.')),
  };
}
