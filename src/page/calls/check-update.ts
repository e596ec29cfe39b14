import { type Check, flag } from '../../api/options/option-checks.ts';
import { type Captured, capture, encodeCaptured } from '../../codec/capture.ts';
import { isList, isPlainObject } from '../../codec/kinds.ts';
import { OptionError, ValueError } from '../../errors/errors.ts';
import type { PartName } from '../../protocol/parts.ts';
import type { RequestedChanges } from '../../protocol/requests.ts';
import { isPositional } from '../../query/path/key-path.ts';
import { checkConflicts, splitUpdatePath, updateInvalid } from '../../query/path/update-paths.ts';
import { isManaged } from '../../storage/segments/stored-record.ts';
import { type CriteriaTraits, checkCriteria, type FindQuery } from '../find/find-query.ts';

export interface EncodedChanges extends RequestedChanges {
  readonly mayHang: true | undefined;
  readonly needs: readonly PartName[] | undefined;
}

/**
 * Checks and encodes the changes of a patch: fields to set, by dotted path, or update operators,
 * which the engine checks. docs/decisions/021-update-operators.md lists the differences from
 * MongoDB.
 *
 * @param given Options that `changeChecks` has accepted.
 * @throws {ValueError} `document_invalid`, `update_invalid`; {KeyError} `key_invalid`,
 *   `paths_conflict`; {CriteriaError}. Each names the place, such as `changes.address.city`.
 */
export function encodeChanges(changes: unknown, given: GivenOptions): EncodedChanges {
  if (!isPlainObject(changes)) {
    const place = 'changes';
    throw new ValueError('document_invalid', 'changes must be a plain object.', { place });
  }
  const filters = given.array_filters as readonly unknown[] | undefined;
  // Of a copy: a getter may give another value each time.
  const captured = captureChanges(changes);
  const copy = checkChanges(captured.copy as Changes, given);
  const traits: CriteriaTraits = {};
  const copies = filters?.map((one, index) => copyFilter(one, index, traits));
  checkCriteria(copy.$pull, 'changes.$pull', traits);
  return {
    changes: encodeCaptured({ copy, json: captured.json }),
    filters: copies,
    mayHang: traits.mayHang,
    needs: traits.needs,
  };
}

type GivenOptions = Readonly<Record<string, unknown>>;

type Changes = Readonly<Record<string, unknown>>;

const isOperator = (key: string | undefined) => key?.startsWith('$') === true;

function checkChanges(changes: Changes, given: GivenOptions): Changes {
  const keys = Object.keys(changes);
  const isOperators = isOperator(keys[0]);
  const other = keys.find((key) => isOperator(key) !== isOperators);
  if (other !== undefined) {
    const [here, first] = isOperators ? ['a field', 'operators'] : ['an operator', 'fields'];
    throw updateInvalid(`changes.${other}`, `is ${here} beside ${first}; give one or the other`);
  }
  return isOperators ? changes : checkFields(changes, given);
}

const OPERATORS =
  /^\$(set|setOnInsert|unset|rename|currentDate|inc|mul|min|max|push|addToSet|pull|pullAll|pop)$/;

/**
 * Managed fields are left out, so that a found document can be passed back; but the `_id` of an
 * upsert, which a new document gets. Operators as a field's new value are a mistake: they would be
 * stored. Under `$set` they are values.
 */
function checkFields(fields: Changes, { array_filters, upsert }: GivenOptions): Changes {
  for (const [field, value] of Object.entries(fields)) {
    const names = isPlainObject(value) ? Object.keys(value) : [];
    const [name] = names;
    if (name === undefined || !names.every((key) => OPERATORS.test(key))) continue;
    const operand = (value as Changes)[name];
    const path = /^\w+$/.test(field) ? field : `'${field}'`;
    const shown = typeof operand === 'number' ? operand : '…';
    const problem = `holds the operator ${name}; write { ${name}: { ${path}: ${shown} } }`;
    throw updateInvalid(`changes.${field}`, problem);
  }
  const split = Object.keys(fields).map((key) => splitUpdatePath(key, `changes.${key}`));
  const own = split.filter(({ path }) => !isManaged(path) || (upsert && path === '_id'));
  checkConflicts(own);
  const checked = Object.fromEntries(own.map(({ path }) => [path, fields[path]]));
  const needsOperator = ({ path, segments }: (typeof own)[number]) =>
    path === '_id' || segments.some(isPositional);
  const isPlain = !array_filters && !own.some(needsOperator);
  return isPlain ? checked : { $set: checked };
}

/** @throws {ValueError} `update_invalid`; {CriteriaError} */
function copyFilter(given: unknown, index: number, traits: CriteriaTraits): object {
  const place = `array_filters[${index}]`;
  if (!isPlainObject(given))
    throw updateInvalid(place, "must be criteria for items, such as { 'item.done': false }");
  const filter = capture(given, place, true).copy as object;
  checkCriteria(filter, place, traits);
  return filter;
}

/** What is compared with items and not stored may be of a subclass, as in criteria. */
function captureChanges(changes: object): Captured {
  const comparing = ['$pull', '$pullAll'].filter((name) => Object.hasOwn(changes, name));
  if (comparing.length === 0) return capture(changes, 'changes');
  const stored: Record<string, unknown> = { ...changes };
  const compared: Record<string, unknown> = {};
  for (const name of comparing) {
    compared[name] = stored[name];
    delete stored[name];
  }
  const [one, other] = [capture(stored, 'changes'), capture(compared, 'changes', true)];
  return {
    copy: { ...(one.copy as object), ...(other.copy as object) },
    json: one.json && other.json,
  };
}

/** The options of calls that change what they find. */
export const changeChecks: Readonly<Record<string, Check>> = {
  array_filters: { allowed: 'an array of criteria for items', test: isList },
};

/** The options of `patchOne`. */
export const upsertChecks = { ...changeChecks, upsert: flag };

/** @throws {OptionError} where the same upsert would not find what it has inserted. */
export function checkUpsert({ test, selection }: FindQuery): void {
  let message: string | undefined;
  if (test)
    message =
      'upsert needs criteria, whose equal values the new document begins with, and no function.';
  else if (selection.archived === 'only')
    message = "upsert inserts an active document, which archived: 'only' does not find.";
  if (message) throw new OptionError('option_invalid', message, { place: 'upsert' });
}
