import { compareFieldPaths } from '../../query/path/key-path.ts';
import {
  checkSettable,
  deleteAt,
  getAt,
  hasAt,
  mismatch,
  setAt,
} from '../../query/path/value-path.ts';
import { compareValues } from '../../query/value/compare-values.ts';
import { addToSet, pop, pullAll, pullMatching, push } from './array-updates.ts';
import {
  replacing,
  UNCHANGED,
  type UpdatedPath,
  type UpdateOperator,
  type UpdateStep,
} from './update-operator.ts';

/** A compiled update of documents. */
export interface CompiledUpdate {
  /** Whether a document that JSON preserves stays one. */
  readonly keepsJson: boolean;
  /**
   * Changes decoded fields in place, and returns them. After an error they are of no use.
   *
   * @param now Unix milliseconds, for `$currentDate`.
   * @throws {KeyError} `kind_mismatch`, `key_invalid`
   */
  apply(fields: object, now: number): object;
}

const increment = arithmetic(
  (operand) => operand,
  (before, operand) => before + operand,
);

const multiply = arithmetic(
  (operand) => (typeof operand === 'bigint' ? 0n : 0),
  (before, operand) => before * operand,
);

const least = bound(-1);
const greatest = bound(1);

const operators: Readonly<Record<string, UpdateOperator>> = {
  $set: set,
  $unset: unset,
  $rename: rename,
  $currentDate: currentDate,
  $inc: increment,
  $mul: multiply,
  $min: least,
  $max: greatest,
  $push: push,
  $addToSet: addToSet,
  $pull: pullMatching,
  $pullAll: pullAll,
  $pop: pop,
};

/**
 * Compiles the changes of a patch: fields to set, by dotted path, or update operators with
 * MongoDB's semantics. The client has checked them (`collection/update/check-update.ts`).
 *
 * @param isJson Whether JSON preserves the changes.
 * @throws {CriteriaError} of `$pull`, naming the place.
 *
 * @example
 * ```ts
 * compileUpdate({ $inc: { stock: -1 } }, true).apply({ stock: 3 }, 0); // { stock: 2 }
 * ```
 */
export function compileUpdate(changes: object, isJson: boolean): CompiledUpdate {
  const isOperators = Object.keys(changes)[0]?.startsWith('$');
  const steps = isOperators ? operatorSteps(changes) : fieldSteps(changes);
  return {
    // A value deeper in the document may exceed the depth of values.
    keepsJson: isJson && !isOperators && !Object.keys(changes).some((path) => path.includes('.')),
    apply: (fields, now) => {
      for (const step of steps) step(fields, now);
      return fields;
    },
  };
}

function fieldSteps(fields: object): UpdateStep[] {
  return Object.entries(fields).map(([path, value]) => set(fieldPath(path), value));
}

function operatorSteps(changes: object): UpdateStep[] {
  const updates = Object.entries(changes).flatMap(([name, operands]) =>
    Object.entries(operands).map(([key, operand]) => {
      const path = fieldPath(key);
      return {
        // The server treats a renamed field at its new place.
        place: name === '$rename' ? (operand as string).split('.') : path.segments,
        step: (operators[name] as UpdateOperator)(path, operand as never),
      };
    }),
  );
  return updates.sort((a, b) => compareFieldPaths(a.place, b.place)).map(({ step }) => step);
}

function fieldPath(path: string): UpdatedPath {
  return { path, segments: path.split('.') };
}

function set(path: UpdatedPath, operand: unknown): UpdateStep {
  return replacing(path, () => operand);
}

/** Removes a field. An item of an array becomes null, so that the others keep their positions. */
function unset({ path, segments }: UpdatedPath): UpdateStep {
  return (fields) => {
    if (!hasAt(fields, segments)) return;
    if (Array.isArray(getAt(fields, segments.slice(0, -1)))) setAt(fields, segments, null, path);
    else deleteAt(fields, segments);
  };
}

/** @param operand A boolean sets a Date, whichever it is: so does the server. */
function currentDate(path: UpdatedPath, operand: boolean | { readonly $type: string }): UpdateStep {
  const isTimestamp = (operand as { readonly $type?: string }).$type === 'timestamp';
  return replacing(path, (_, now) => (isTimestamp ? now : new Date(now)));
}

function rename(source: UpdatedPath, operand: string): UpdateStep {
  const target = { path: operand, segments: operand.split('.') };
  return (fields) => {
    refuseArrays(fields, source);
    checkSettable(fields, source.segments, source.path);
    if (!hasAt(fields, source.segments)) return;
    refuseArrays(fields, target);
    setAt(fields, target.segments, getAt(fields, source.segments), target.path);
    deleteAt(fields, source.segments);
  };
}

/** @throws {KeyError} `kind_mismatch`: as in MongoDB, fields of array items are not renamed. */
function refuseArrays(fields: object, { path, segments }: UpdatedPath): void {
  for (let length = 1; length < segments.length; length++) {
    const parent = getAt(fields, segments.slice(0, length));
    if (Array.isArray(parent)) throw mismatch(path, parent, 'objects along the path to rename');
  }
}

/** JavaScript computes numbers and bigints alike; TypeScript wants one of them. */
type Numeric = number;

/** A number and a bigint never mix: the sum would be exact or not depending on the document. */
function arithmetic(
  missing: (operand: Numeric) => unknown,
  combine: (before: Numeric, operand: Numeric) => Numeric,
) {
  return (path: UpdatedPath, operand: Numeric): UpdateStep =>
    replacing(path, (before) => {
      if (before === undefined) return missing(operand);
      if (typeof before !== typeof operand)
        throw mismatch(path.path, before, `a ${typeof operand}`);
      return combine(before as Numeric, operand);
    });
}

function bound(sign: 1 | -1) {
  return (path: UpdatedPath, operand: unknown): UpdateStep =>
    replacing(path, (before) =>
      before === undefined || sign * compareValues(operand, before) > 0 ? operand : UNCHANGED,
    );
}
