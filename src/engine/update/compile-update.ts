import { compareFieldPaths } from '../paths/key-path.ts';
import { addToSet, push } from './array-updates.ts';
import { currentDate, rename, set, unset } from './field-updates.ts';
import { greatest, increment, least, multiply } from './number-updates.ts';
import { pop, pull, pullAll } from './removals.ts';
import type { FieldPath, UpdateOperator, UpdateStep } from './update-operator.ts';

/** A compiled update of documents. */
export interface Update {
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
  $pull: pull,
  $pullAll: pullAll,
  $pop: pop,
};

/**
 * Compiles the changes of a patch: fields to set, by dotted path, or update operators with MongoDB's semantics. The client
 * has checked them (`collection/update/check-update.ts`).
 *
 * @param isJson Whether JSON preserves the changes.
 * @throws {CriteriaError} of `$pull`, naming the place.
 *
 * @example
 * ```ts
 * compileUpdate({ $inc: { stock: -1 } }, true).apply({ stock: 3 }, 0); // { stock: 2 }
 * ```
 */
export function compileUpdate(changes: object, isJson: boolean): Update {
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

function fieldPath(path: string): FieldPath {
  return { path, segments: path.split('.') };
}
