import { isPlainObject } from '../../codec/kinds.ts';
import { ValueError } from '../../errors/errors.ts';
import { nearestName } from '../../errors/nearest-name.ts';
import { isManaged } from '../../storage/segments/stored-record.ts';
import { holdsOperators } from '../criteria/operators/operator.ts';
import { isPositional } from '../path/key-path.ts';
import {
  checkConflicts,
  type SplitPath,
  splitUpdatePath,
  updateInvalid,
} from '../path/update-paths.ts';
import { setAt } from '../path/value-path.ts';
import { isFields, isRegExp } from '../value/value-type.ts';

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

/**
 * Checks the update operators of a patch. Managed fields are left out under `$set`, so that a found
 * document can be passed back.
 *
 * @param hasCriteria Whether criteria have found the document: `$` is the first item that they
 *   match.
 * @throws {ValueError} `update_invalid`; {KeyError} `key_invalid`, `paths_conflict`. Each names the
 *   place, such as `changes.$inc.count`.
 */
export function checkOperators(changes: object, hasCriteria: boolean): object {
  const checking: Checking = { hasCriteria, paths: [] };
  const checked: Record<string, unknown> = {};
  for (const [name, operands] of Object.entries(changes))
    checked[name] = checkOperator(name, operands, checking);
  checkConflicts(checking.paths);
  return checked;
}

/** The changes so far. */
interface Checking {
  readonly hasCriteria: boolean;
  /** The paths that they name. */
  readonly paths: SplitPath[];
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
    const path = parsePath(key, place, checking);
    check(operand, place);
    addUnmanaged(path, place, checking);
    if (name !== '$rename') continue;
    const target = parsePath(operand as string, place, checking);
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

const MANAGED = 'names a managed field, which only Cairn changes';

/** @throws {ValueError} `update_invalid` */
function addUnmanaged(path: SplitPath, place: string, checking: Checking): void {
  if (isManaged(path.path)) throw updateInvalid(place, MANAGED);
  checking.paths.push(path);
}

function withoutManaged(fields: object, at: string, checking: Checking): Record<string, unknown> {
  const own = Object.entries(fields).filter(([key]) => {
    const path = parsePath(key, `${at}.${key}`, checking);
    if (isManaged(key)) return false;
    checking.paths.push(path);
    return true;
  });
  return Object.fromEntries(own);
}

function parsePath(path: string, place: string, { hasCriteria }: Checking): SplitPath {
  const split = splitUpdatePath(path, place);
  const matched = split.segments.filter((segment) => segment === '$').length;
  if (matched > 0 && !hasCriteria)
    throw updateInvalid(
      place,
      'uses $, the first item that criteria match, and there are none; use $[name] with array_filters',
    );
  if (matched > 1) throw updateInvalid(place, 'uses $ twice, and the criteria match one item');
  return split;
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

/** What a document begins with that criteria do not find. */
interface Inserted {
  readonly id: string | undefined;
  /** The values that the criteria ask for. */
  readonly fields: object;
}

type Setting = Readonly<Partial<Record<'$set' | '$setOnInsert', { readonly _id?: unknown }>>>;

/**
 * The document that criteria describe, as MongoDB infers it for an upsert: equal values, also
 * within `$and`, an `$or` of one, an `$in` of one, and `$all`; and the `_id` of changes.
 *
 * @throws {KeyError} `paths_conflict`, `key_invalid`; {ValueError} `id_invalid`, `update_invalid`
 */
export function describedBy(criteria: object, { $set, $setOnInsert }: Setting): Inserted {
  const equalities = [...equalitiesOf(criteria)];
  for (const fields of [$set, $setOnInsert]) {
    const id = fields?._id;
    if (id !== undefined && !equalities.some(([path, value]) => path === '_id' && value === id))
      equalities.push(['_id', id]);
  }
  const paths = equalities.map(([path]) => splitUpdatePath(path, path));
  checkConflicts(paths, 'criteria');
  const fields = {};
  let id: string | undefined;
  for (const [index, { path, segments }] of paths.entries()) {
    const value = equalities[index]?.[1];
    if (path === '_id' && (value === undefined || (typeof value === 'string' && value))) id = value;
    else if (segments[0] === '_id')
      throw new ValueError('id_invalid', 'An upsert needs a string as _id.', {
        place: path,
      });
    else if (!isManaged(path)) setAt(fields, segments, value, path);
    // What an insert leaves false; the same upsert would not find its document otherwise.
    else if (value !== false) throw updateInvalid(`criteria.${path}`, MANAGED);
  }
  return { id, fields };
}

function* equalitiesOf(criteria: object): Generator<[path: string, value: unknown]> {
  for (const [key, value] of Object.entries(criteria)) {
    const isOne = key === '$and' || (key === '$or' && value.length === 1);
    if (isOne) for (const one of value) yield* equalitiesOf(one);
    else if (!key.startsWith('$')) {
      if (isFields(value) && holdsOperators(value)) {
        if ('$eq' in value) yield [key, value.$eq];
        for (const one of equalItems(value)) yield [key, one];
      } else if (!isRegExp(value)) yield [key, value];
    }
  }
}

/** The items that an array must have, or a value be; a pattern or `$elemMatch` is none. */
function equalItems({ $in = [], $all = [] }: { $in?: unknown[]; $all?: unknown[] }): unknown[] {
  const items = $in.length === 1 ? [...$in, ...$all] : $all;
  return items.filter((one) => !isRegExp(one) && !(isFields(one) && holdsOperators(one)));
}
