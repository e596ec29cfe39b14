import { isPlainObject } from '../../codec/kinds.ts';
import { nearestName } from '../../errors/nearest-name.ts';
import { ValueError } from '../../errors/value-error.ts';
import { operandChecks } from './operand-checks.ts';
import { updateInvalid } from './update-errors.ts';
import { checkConflicts, parseUpdatePath, type UpdatePath } from './update-path.ts';

/**
 * Checks the changes of a patch: fields to set, by dotted path, or update operators. Managed fields are left out among fields
 * and under `$set`, so that a found document can be passed back.
 *
 * @returns the changes, for the engine.
 * @throws {ValueError} `document_invalid`, `update_invalid`; {KeyError} `key_invalid`, `paths_conflict`. Each names the place,
 *   such as `changes.$inc.count`.
 */
export function checkUpdate(changes: unknown): Readonly<Record<string, unknown>> {
  if (!isPlainObject(changes)) {
    const place = 'changes';
    throw new ValueError('document_invalid', 'changes must be a plain object.', { place });
  }
  const keys = Object.keys(changes);
  const isOperators = keys[0]?.startsWith('$') === true;
  const other = keys.find((key) => key.startsWith('$') !== isOperators);
  if (other !== undefined) {
    const [here, first] = isOperators ? ['a field', 'operators'] : ['an operator', 'fields'];
    throw updateInvalid(`changes.${other}`, `is ${here} beside ${first}; give one or the other`);
  }
  const paths: UpdatePath[] = [];
  const checked = isOperators ? checkOperators(changes, paths) : checkFields(changes, paths);
  checkConflicts(paths);
  return checked;
}

/**
 * Operators as a field's new value are a mistake: they would be stored. Under `$set` they are values.
 *
 * @throws {ValueError} `update_invalid`
 */
function checkFields(fields: object, paths: UpdatePath[]): Record<string, unknown> {
  for (const [field, value] of Object.entries(fields)) {
    const names = isPlainObject(value) ? Object.keys(value) : [];
    const [name] = names;
    if (name === undefined || !names.every((key) => operandChecks.has(key))) continue;
    const operand = (value as Record<string, unknown>)[name];
    const path = /^\w+$/.test(field) ? field : `'${field}'`;
    const shown = typeof operand === 'number' ? operand : '…';
    const problem = `holds the operator ${name}; write { ${name}: { ${path}: ${shown} } }`;
    throw updateInvalid(`changes.${field}`, problem);
  }
  return withoutManaged(fields, 'changes', paths);
}

function checkOperators(changes: object, paths: UpdatePath[]): Record<string, unknown> {
  const checked: Record<string, unknown> = {};
  for (const [name, operands] of Object.entries(changes))
    checked[name] = checkOperator(name, operands, paths);
  return checked;
}

/** @param paths Takes in the paths that it changes. */
function checkOperator(name: string, operands: unknown, paths: UpdatePath[]): object {
  const at = `changes.${name}`;
  const check = operandChecks.get(name);
  if (!check) {
    const known = [...operandChecks.keys()];
    const near = nearestName(name, known) ?? known.find((one) => sorted(one) === sorted(name));
    const hint = near ? `did you mean "${near}"?` : `there are ${known.join(', ')}`;
    throw updateInvalid(at, `is no update operator (${hint})`);
  }
  if (!isPlainObject(operands))
    throw updateInvalid(at, 'must be an object of paths, such as { count: 1 }');
  if (name === '$set') return withoutManaged(operands, at, paths);
  for (const [key, operand] of Object.entries(operands)) {
    const place = `${at}.${key}`;
    const path = parseUpdatePath(key, place);
    check(operand, place);
    addUnmanaged(path, place, paths);
    if (name === '$rename') addUnmanaged(parseUpdatePath(operand as string, place), place, paths);
  }
  return operands;
}

/** Letters in another order are mostly two that were exchanged, which count as two edits. */
function sorted(name: string): string {
  return [...name].sort().join('');
}

/** @throws {ValueError} `update_invalid` */
function addUnmanaged(path: UpdatePath, place: string, paths: UpdatePath[]): void {
  if (path.isManaged)
    throw updateInvalid(place, `changes the managed field "${path.path}", which only Cairn does`);
  paths.push(path);
}

function withoutManaged(fields: object, at: string, paths: UpdatePath[]): Record<string, unknown> {
  const own = Object.entries(fields).filter(([key]) => {
    const path = parseUpdatePath(key, `${at}.${key}`);
    if (!path.isManaged) paths.push(path);
    return !path.isManaged;
  });
  return Object.fromEntries(own);
}
