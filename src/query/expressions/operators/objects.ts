import { isFields } from '../../value/value-type.ts';
import {
  type ExpressionOperator,
  isConstant,
  isNullish,
  itemsIn,
  namedOperands,
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
    const isNamed = isFields(operand) && 'field' in operand;
    const given = isNamed
      ? namedOperands(operand, place, ['field'], ['input'])
      : { field: operand };
    const { field, input = '$$CURRENT' } = given as Record<string, unknown>;
    const name = scope.compile(field, isNamed ? `${place}.field` : place, scope);
    if (isConstant(name)) nameIn(name(undefined), place);
    const read = scope.compile(input, `${place}.input`, scope);
    return (document) => {
      const value = read(document);
      const key = nameIn(name(document), place);
      return isFields(value) && Object.hasOwn(value, key) ? value[key] : undefined;
    };
  },
  $setField: ofNamed(['field', 'input', 'value'], [], (place) => ({ field, input, value }) => {
    if (isNullish(input)) return null;
    const { [nameIn(field, place)]: _, ...rest } = fieldsIn(input, place);
    return value === undefined
      ? rest
      : { ...fieldsIn(input, place), [nameIn(field, place)]: value };
  }),
  $unsetField: ofNamed(['field', 'input'], [], (place) => ({ field, input }) => {
    if (isNullish(input)) return null;
    const { [nameIn(field, place)]: _, ...rest } = fieldsIn(input, place);
    return rest;
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
