import { encodeCaptured } from '../../codec/body.ts';
import { type Captured, capture } from '../../codec/capture.ts';
import { isPlainObject } from '../../codec/kinds.ts';
import { ValueError } from '../../errors/errors.ts';
import { nearestName } from '../../errors/nearest-name.ts';
import { isManaged } from '../../protocol/managed.ts';
import type { RequestedChanges } from '../../protocol/requests.ts';
import { isPositional, parseFieldPath } from '../../query/path/key-path.ts';
import { checkConflicts, type SplitPath } from '../../query/path/path-conflicts.ts';
import { checkCriteria, holdsPattern } from '../find/find-query.ts';

const anything: OperandCheck = () => undefined;

/** The update operators, with the checks of their operands. */
export const operandChecks: ReadonlyMap<string, OperandCheck> = new Map([
  ['$set', anything],
  ['$setOnInsert', anything],
  ['$unset', anything],
  ['$rename', check((operand) => typeof operand === 'string', 'the new path, a string')],
  ['$currentDate', check(isDateType, 'a boolean, { $type: "date" } or { $type: "timestamp" }')],
  ['$inc', check(isNumeric, 'a number or a bigint')],
  ['$mul', check(isNumeric, 'a number or a bigint')],
  ['$min', anything],
  ['$max', anything],
  ['$push', (operand, place) => checkEach(operand, place, pushModifiers)],
  ['$addToSet', (operand, place) => checkEach(operand, place, new Map())],
  ['$pull', anything],
  ['$pullAll', check(Array.isArray, 'an array of items')],
  ['$pop', check(isDirection, '1, the last item, or -1, the first')],
]);

/** What an update is for. */
export interface UpdateScope {
  /** The filters of its positional operators, as the caller has given them. */
  readonly filters?: readonly unknown[] | undefined;
  /** Whether criteria find the document: `$` is the first item that they match. */
  readonly hasCriteria?: boolean;
}

/** The changes so far: the paths that they name. */
interface Checking extends UpdateScope {
  readonly paths: ParsedUpdatePath[];
}

/**
 * Checks the changes of a patch: fields to set, by dotted path, or update operators. Managed fields
 * are left out among fields and under `$set`, so that a found document can be passed back.
 *
 * @returns the changes, for the engine.
 * @throws {ValueError} `document_invalid`, `update_invalid`; {KeyError} `key_invalid`,
 *   `paths_conflict`. Each names the place, such as `changes.$inc.count`.
 */
export function checkUpdate(
  changes: unknown,
  scope: UpdateScope = {},
): Readonly<Record<string, unknown>> {
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
  const checking: Checking = { ...scope, paths: [] };
  const checked = isOperators ? checkOperators(changes, checking) : checkFields(changes, checking);
  checkConflicts(checking.paths);
  const isPlain = isOperators || !checking.paths.some((path) => path.segments.some(isPositional));
  return isPlain ? checked : { $set: checked };
}

/**
 * Operators as a field's new value are a mistake: they would be stored. Under `$set` they are
 * values.
 *
 * @throws {ValueError} `update_invalid`
 */
function checkFields(fields: object, checking: Checking): Record<string, unknown> {
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
  return withoutManaged(fields, 'changes', checking);
}

function checkOperators(changes: object, checking: Checking): Record<string, unknown> {
  const checked: Record<string, unknown> = {};
  for (const [name, operands] of Object.entries(changes))
    checked[name] = checkOperator(name, operands, checking);
  return checked;
}

/** @param checking Takes in the paths that it changes. */
function checkOperator(name: string, operands: unknown, checking: Checking): object {
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
  if (name === '$set' || name === '$setOnInsert') return withoutManaged(operands, at, checking);
  for (const [key, operand] of Object.entries(operands)) {
    const place = `${at}.${key}`;
    const path = parseUpdatePath(key, place, checking);
    check(operand, place);
    addUnmanaged(path, place, checking);
    if (name !== '$rename') continue;
    const target = parseUpdatePath(operand as string, place, checking);
    const positional = [...path.segments, ...target.segments].find(isPositional);
    if (positional)
      throw updateInvalid(place, `renames items of an array by ${positional}; use modify`);
    addUnmanaged(target, place, checking);
  }
  return operands;
}

/** Letters in another order are mostly two that were exchanged, which count as two edits. */
function sorted(name: string): string {
  return [...name].sort().join('');
}

/** @throws {ValueError} `update_invalid` */
function addUnmanaged(path: ParsedUpdatePath, place: string, checking: Checking): void {
  if (path.isManaged)
    throw updateInvalid(place, `changes the managed field "${path.path}", which only Cairn does`);
  checking.paths.push(path);
}

function withoutManaged(fields: object, at: string, checking: Checking): Record<string, unknown> {
  const own = Object.entries(fields).filter(([key]) => {
    const path = parseUpdatePath(key, `${at}.${key}`, checking);
    if (!path.isManaged) checking.paths.push(path);
    return !path.isManaged;
  });
  return Object.fromEntries(own);
}

/** A dotted path that an update changes. */
interface ParsedUpdatePath extends SplitPath {
  readonly isManaged: boolean;
}

/**
 * @param place Where the path stands in the changes.
 * @throws {KeyError} `key_invalid`; {ValueError} `update_invalid` for a positional operator.
 */
function parseUpdatePath(path: string, place: string, checking: Checking): ParsedUpdatePath {
  const segments = parseFieldPath(path);
  const operators = segments.filter(isPositional);
  if (isPositional(segments[0] as string))
    throw updateInvalid(place, `begins with ${operators[0]}, which follows an array`);
  for (const operator of operators) {
    if (operator === '$' && !checking.hasCriteria)
      throw updateInvalid(
        place,
        'uses $, the first item that criteria match, and there are none; use $[name] with array_filters',
      );
  }
  if (operators.filter((operator) => operator === '$').length > 1)
    throw updateInvalid(place, 'uses $ twice, and the criteria match one item');
  return { path, segments, isManaged: isManaged(path) };
}

/** @param place Where in the changes, such as `changes.$inc.count`. */
function updateInvalid(place: string, problem: string): ValueError {
  return new ValueError('update_invalid', `${place} ${problem}. Nothing was changed.`, { place });
}

/** The changes of a patch in a request. */
export interface EncodedChanges extends RequestedChanges {
  readonly mayHang: true | undefined;
  /** Operators are code that loads with the first. */
  readonly needs: 'updates' | undefined;
}

/** Checks and encodes the changes of a patch. */
export function encodeChanges(changes: unknown, scope: UpdateScope = {}): EncodedChanges {
  const filters = scope.filters?.map(copyFilter);
  // Of a copy: a getter may give another value each time.
  const captured = isPlainObject(changes) ? captureChanges(changes) : undefined;
  const copy = checkUpdate(captured ? captured.copy : changes, scope);
  checkCriteria(copy.$pull, 'changes.$pull');
  const isOperators = Object.keys(copy)[0]?.startsWith('$');
  return {
    changes: encodeCaptured({ copy, json: captured?.json === true }),
    filters,
    mayHang: holdsPattern(copy.$pull) || holdsPattern(filters) || undefined,
    needs: isOperators || filters ? 'updates' : undefined,
  };
}

/** @throws {ValueError} `update_invalid`; {CriteriaError} */
function copyFilter(filter: unknown, index: number): object {
  const place = `array_filters[${index}]`;
  if (!isPlainObject(filter))
    throw updateInvalid(place, "must be criteria for items, such as { 'item.done': false }");
  const copy = capture(filter, place, true).copy as object;
  checkCriteria(copy, place);
  return copy;
}

/** What is compared with items and not stored may be of a subclass, as in criteria. */
function captureChanges(changes: object): Captured {
  const stored: Record<string, unknown> = { ...changes };
  const compared: Record<string, unknown> = {};
  for (const name of ['$pull', '$pullAll']) {
    if (!Object.hasOwn(stored, name)) continue;
    compared[name] = stored[name];
    delete stored[name];
  }
  const [one, other] = [capture(stored, 'changes'), capture(compared, 'changes', true)];
  return {
    copy: { ...(one.copy as object), ...(other.copy as object) },
    json: one.json && other.json,
  };
}

/** @throws {ValueError} `update_invalid` for an operand of the wrong kind. */
type OperandCheck = (operand: unknown, place: string) => void;

const pushModifiers: ReadonlyMap<string, OperandCheck> = new Map([
  ['$position', check(Number.isSafeInteger, 'a whole number')],
  ['$slice', check(Number.isSafeInteger, 'a whole number')],
  ['$sort', checkSort],
]);

function check(test: (operand: unknown) => boolean, allowed: string): OperandCheck {
  return (operand, place) => {
    if (!test(operand)) throw updateInvalid(place, `must be ${allowed}`);
  };
}

function isNumeric(operand: unknown): boolean {
  return typeof operand === 'number' || typeof operand === 'bigint';
}

function isDirection(operand: unknown): boolean {
  return operand === 1 || operand === -1;
}

function isDateType(operand: unknown): boolean {
  if (typeof operand === 'boolean') return true;
  if (!isPlainObject(operand) || Object.keys(operand).length !== 1) return false;
  return operand.$type === 'date' || operand.$type === 'timestamp';
}

/** Checks an item, or several as `{ $each: […] }` with modifiers beside it. */
function checkEach(
  operand: unknown,
  place: string,
  modifiers: ReadonlyMap<string, OperandCheck>,
): void {
  if (!isPlainObject(operand)) return;
  const keys = Object.keys(operand);
  if (!keys.some((key) => key === '$each' || modifiers.has(key))) return;
  if (!keys.includes('$each')) throw updateInvalid(place, 'needs $each for its modifiers');
  for (const key of keys) {
    const at = `${place}.${key}`;
    const checkModifier =
      key === '$each' ? check(Array.isArray, 'an array of items') : modifiers.get(key);
    if (!checkModifier) {
      const known = ['$each', ...modifiers.keys()].join(', ');
      throw updateInvalid(at, `is unknown here; allowed are ${known}`);
    }
    if (operand[key] !== undefined || key === '$each') checkModifier(operand[key], at);
  }
}

function checkSort(sort: unknown, place: string): void {
  if (isDirection(sort)) return;
  const fields = isPlainObject(sort) ? Object.entries(sort) : [];
  if (fields.length === 0)
    throw updateInvalid(place, 'must be 1, -1, or paths in the items such as { price: 1 }');
  for (const [field, direction] of fields) {
    const at = `${place}.${field}`;
    const segments = field.split('.');
    if (segments.includes('') || segments.includes('__proto__'))
      throw updateInvalid(at, 'is no path, such as "price" or "size.width"');
    if (!isDirection(direction)) throw updateInvalid(at, 'must be 1 or -1');
  }
}
