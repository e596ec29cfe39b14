import { isPlainObject } from '../../codec/kinds.ts';
import { checkSettable, deleteAt, getAt, hasAt, mismatch, setAt } from '../paths/value-path.ts';
import { updateInvalid } from './update-errors.ts';
import { replacing, type UpdateOperator } from './update-operator.ts';
import { parseUpdatePath, type UpdatePath } from './update-path.ts';

export const set: UpdateOperator = (path, operand) => replacing(path, () => operand);

/** Removes a field. An item of an array becomes null, so that the others keep their positions. */
export const unset: UpdateOperator = ({ path, segments }) => {
  return (fields) => {
    if (!hasAt(fields, segments)) return;
    if (Array.isArray(getAt(fields, segments.slice(0, -1)))) setAt(fields, segments, null, path);
    else deleteAt(fields, segments);
  };
};

export const currentDate: UpdateOperator = (path, operand, place) => {
  const [key, ...others] = isPlainObject(operand) ? Object.keys(operand) : [];
  const isTyped = key === '$type' && others.length === 0;
  const type = isTyped ? (operand as { $type: unknown }).$type : operand === true && 'date';
  if (type !== 'date' && type !== 'timestamp')
    throw updateInvalid(place, 'must be true, { $type: "date" } or { $type: "timestamp" }');
  return replacing(path, (_, now) => (type === 'date' ? new Date(now) : now));
};

/** The target of a `$rename`. @throws {ValueError} `update_invalid`; {KeyError} `key_invalid`. */
export function renameTarget(operand: unknown, place: string): UpdatePath {
  if (typeof operand !== 'string') throw updateInvalid(place, 'must be the new path, a string');
  return parseUpdatePath(operand, place);
}

export const rename: UpdateOperator = (source, operand, place) => {
  const target = renameTarget(operand, place);
  return (fields) => {
    refuseArrays(fields, source);
    checkSettable(fields, source.segments, source.path);
    if (!hasAt(fields, source.segments)) return;
    refuseArrays(fields, target);
    const value = getAt(fields, source.segments);
    setAt(fields, target.segments, value, target.path);
    deleteAt(fields, source.segments);
  };
};

/** @throws {KeyError} `kind_mismatch`: as in MongoDB, fields of array items are not renamed. */
function refuseArrays(fields: object, { path, segments }: UpdatePath): void {
  for (let length = 1; length < segments.length; length++) {
    const parent = getAt(fields, segments.slice(0, length));
    if (Array.isArray(parent)) throw mismatch(path, parent, 'objects along the path to rename');
  }
}
