import { checkSettable, deleteAt, getAt, hasAt, mismatch, setAt } from '../paths/value-path.ts';
import { type FieldPath, replacing, type UpdateStep } from './update-operator.ts';

export function set(path: FieldPath, operand: unknown): UpdateStep {
  return replacing(path, () => operand);
}

/** Removes a field. An item of an array becomes null, so that the others keep their positions. */
export function unset({ path, segments }: FieldPath): UpdateStep {
  return (fields) => {
    if (!hasAt(fields, segments)) return;
    if (Array.isArray(getAt(fields, segments.slice(0, -1)))) setAt(fields, segments, null, path);
    else deleteAt(fields, segments);
  };
}

/** @param operand A boolean sets a Date, whichever it is: so does the server. */
export function currentDate(
  path: FieldPath,
  operand: boolean | { readonly $type: string },
): UpdateStep {
  const isTimestamp = (operand as { readonly $type?: string }).$type === 'timestamp';
  return replacing(path, (_, now) => (isTimestamp ? now : new Date(now)));
}

export function rename(source: FieldPath, operand: string): UpdateStep {
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
function refuseArrays(fields: object, { path, segments }: FieldPath): void {
  for (let length = 1; length < segments.length; length++) {
    const parent = getAt(fields, segments.slice(0, length));
    if (Array.isArray(parent)) throw mismatch(path, parent, 'objects along the path to rename');
  }
}
