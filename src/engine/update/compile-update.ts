import { isPlainObject } from '../../codec/kinds.ts';
import { nearestName } from '../../errors/nearest-name.ts';
import { addToSet, push } from './array-updates.ts';
import { currentDate, rename, renameTarget, set, unset } from './field-updates.ts';
import { greatest, increment, least, multiply } from './number-updates.ts';
import { pop, pull, pullAll } from './removals.ts';
import { updateInvalid } from './update-errors.ts';
import type { UpdateOperator, UpdateStep } from './update-operator.ts';
import { checkConflicts, comparePaths, parseUpdatePath, type UpdatePath } from './update-path.ts';

/** A compiled update of documents. */
export interface Update {
  /**
   * Changes decoded fields in place, and returns them. After an error they are of no use.
   *
   * @param now Unix milliseconds, for `$currentDate`.
   * @throws {KeyError} `kind_mismatch`, `key_invalid`
   */
  apply(fields: object, now: number): object;
}

const operators: ReadonlyMap<string, UpdateOperator> = new Map([
  ['$set', set],
  ['$unset', unset],
  ['$rename', rename],
  ['$currentDate', currentDate],
  ['$inc', increment],
  ['$mul', multiply],
  ['$min', least],
  ['$max', greatest],
  ['$push', push],
  ['$addToSet', addToSet],
  ['$pull', pull],
  ['$pullAll', pullAll],
  ['$pop', pop],
]);

interface PathUpdate {
  readonly path: UpdatePath;
  /** The path that `$rename` changes besides. */
  readonly target?: UpdatePath | undefined;
  readonly step: UpdateStep;
}

/**
 * Compiles the changes of a patch: fields to set, by dotted path, or update operators with MongoDB's semantics. Managed
 * fields are ignored among fields and under `$set`, so that a found document can be handed back.
 *
 * @throws {ValueError} `update_invalid`; {KeyError} `key_invalid`, `paths_conflict`; {CriteriaError} of `$pull`. Each
 *   names the place, such as `changes.$inc.count`.
 *
 * @example
 * ```ts
 * compileUpdate({ $inc: { stock: -1 } }).apply({ stock: 3 }, 0); // { stock: 2 }
 * ```
 */
export function compileUpdate(changes: object): Update {
  const keys = Object.keys(changes);
  const isOperators = keys[0]?.startsWith('$') === true;
  const other = keys.find((key) => key.startsWith('$') !== isOperators);
  if (other !== undefined) {
    const [here, first] = isOperators ? ['a field', 'operators'] : ['an operator', 'fields'];
    throw updateInvalid(`changes.${other}`, `is ${here} beside ${first}; give one or the other`);
  }
  const updates = isOperators
    ? Object.entries(changes).flatMap(([name, operands]) => compileOperator(name, operands))
    : compileFields(changes);
  checkConflicts(updates.flatMap(({ path, target }) => (target ? [path, target] : path)));
  if (isOperators) updates.sort((a, b) => comparePaths(a.target ?? a.path, b.target ?? b.path));
  return {
    apply: (fields, now) => {
      for (const { step } of updates) step(fields, now);
      return fields;
    },
  };
}

function compileFields(fields: object): PathUpdate[] {
  const updates: PathUpdate[] = [];
  for (const [path, value] of Object.entries(fields)) {
    const place = `changes.${path}`;
    const parsed = parseUpdatePath(path, place);
    if (!parsed.isManaged) updates.push({ path: parsed, step: set(parsed, value, place) });
  }
  return updates;
}

function compileOperator(name: string, operands: unknown): PathUpdate[] {
  const operator = operators.get(name);
  if (!operator) {
    const near = nearestName(name, [...operators.keys()]);
    const hint = near ? `did you mean ${near}?` : `there are ${[...operators.keys()].join(', ')}`;
    throw updateInvalid(`changes.${name}`, `is no update operator; ${hint}`);
  }
  if (!isPlainObject(operands))
    throw updateInvalid(`changes.${name}`, 'must be an object of paths, such as { count: 1 }');
  const updates: PathUpdate[] = [];
  for (const [key, operand] of Object.entries(operands)) {
    const place = `changes.${name}.${key}`;
    const path = parseUpdatePath(key, place);
    const target = operator === rename ? renameTarget(operand, place) : undefined;
    if (path.isManaged && operator === set) continue;
    if (path.isManaged || target?.isManaged)
      throw updateInvalid(place, 'changes a managed field, which only Cairn does');
    updates.push({ path, target, step: operator(path, operand, place) });
  }
  return updates;
}
