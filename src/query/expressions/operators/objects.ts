import { isFields } from '../../value/value-type.ts';
import {
  compileNamed,
  type Evaluate,
  type ExpressionOperator,
  isConstant,
  isNullish,
  itemsIn,
  namedOperands,
  ofGiven,
  ofList,
  ofSettings,
  valuesIn,
  wrongKind,
} from '../operator.ts';

export const objects = {
  $mergeObjects: ofList(0, (values, place) => {
    const merged: Record<string, unknown> = {};
    for (const value of valuesIn(values, place)) {
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
  $setField: (operand, place, scope) => {
    const names = ['field', 'input', 'value'];
    const [field, input, value] = compileNamed(operand, place, scope, names) as [
      Evaluate,
      Evaluate,
      Evaluate,
    ];
    return (document) => {
      const fields = input(document);
      if (isNullish(fields)) return null;
      const made = {
        ...fieldsIn(fields, place),
        [nameIn(field(document), place)]: value(document),
      };
      return Object.fromEntries(Object.entries(made).filter(([, one]) => one !== undefined));
    };
  },
  $unsetField: ofSettings(['input'], ['field'], [], ({ field }, place) => (input) => {
    const { [nameIn(field, place)]: _, ...rest } = fieldsIn(input, place);
    return rest;
  }),
  $objectToArray: ofGiven(1, 1, (place, value) =>
    Object.entries(fieldsIn(value, place)).map(([k, v]) => ({ k, v })),
  ),
  $arrayToObject: ofGiven(1, 1, (place, value) => {
    const made: Record<string, unknown> = {};
    for (const item of itemsIn(value, place)) {
      const { k, v } = Array.isArray(item) ? { k: item[0], v: item[1] } : fieldsIn(item, place);
      made[nameIn(k, place)] = v;
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
