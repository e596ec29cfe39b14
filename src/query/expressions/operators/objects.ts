import { operandInvalid } from '../../query-errors.ts';
import { isFields } from '../../value/value-type.ts';
import {
  type ExpressionOperator,
  isNullish,
  itemsIn,
  ofArguments,
  ofNamed,
  wrongKind,
} from '../operator.ts';

export const objects = {
  $mergeObjects: ofArguments(0, 1000, (place) => (...values: unknown[]) => {
    const [only] = values;
    const merged: Record<string, unknown> = {};
    for (const value of values.length === 1 && Array.isArray(only) ? only : values) {
      if (isNullish(value)) continue;
      Object.assign(merged, fieldsIn(value, place));
    }
    return merged;
  }),
  $getField: (operand, place, scope) => {
    const given = typeof operand === 'string' ? { field: operand } : operand;
    const { field, input = '$$CURRENT' } = (isFields(given) ? given : {}) as Record<
      string,
      unknown
    >;
    if (typeof field !== 'string' || field === '__proto__')
      throw operandInvalid(place, 'the name of a field, or { field, input }', operand);
    const read = scope.compile(input, `${place}.input`, scope);
    return (document) => {
      const value = read(document);
      return isFields(value) && Object.hasOwn(value, field) ? value[field] : undefined;
    };
  },
  $setField: ofNamed(['field', 'input', 'value'], [], (place) => ({ field, input, value }) => {
    if (isNullish(input)) return null;
    const { [nameIn(field, place)]: _, ...rest } = fieldsIn(input, place);
    return value === undefined
      ? rest
      : { ...fieldsIn(input, place), [nameIn(field, place)]: value };
  }),
  $objectToArray: ofArguments(
    1,
    1,
    (place) => (value: unknown) =>
      isNullish(value) ? null : Object.entries(fieldsIn(value, place)).map(([k, v]) => ({ k, v })),
  ),
  $arrayToObject: ofArguments(1, 1, (place) => (value: unknown) => {
    if (isNullish(value)) return null;
    const made: Record<string, unknown> = {};
    for (const item of itemsIn(value, place)) {
      const [key, one] = Array.isArray(item)
        ? item
        : [fieldsIn(item, place).k, fieldsIn(item, place).v];
      made[nameIn(key, place)] = one;
    }
    return made;
  }),
} satisfies Record<string, ExpressionOperator>;

function fieldsIn(value: unknown, place: string): Record<string, unknown> {
  if (isFields(value)) return value;
  throw wrongKind(place, 'an object', value);
}

function nameIn(value: unknown, place: string): string {
  if (typeof value === 'string' && value !== '__proto__') return value;
  throw wrongKind(place, 'the name of a field', value);
}
