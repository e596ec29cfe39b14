import { nearestName } from '../../errors/nearest-name.ts';
import { eachPresent, not } from '../criteria/condition.ts';
import { operandInvalid, placeBelow } from '../query-errors.ts';
import type { Operator } from './operator.ts';
import { typeCodes, typeTests } from './type-alias.ts';

/** Truthy as in the server: everything but `false`, 0, null and `undefined`; an empty string is truthy. */
export const $exists: Operator = (operand) => {
  const exists = eachPresent((_value, present) => present);
  const wanted = operand !== false && operand !== null && operand !== undefined && !isZero(operand);
  return wanted ? exists : not(exists);
};

export const $type: Operator = (operand, { place }) => {
  if (!Array.isArray(operand)) return eachPresent(typeTest(operand, place));
  if (operand.length === 0)
    throw operandInvalid(place, 'a type or a list of at least one', operand);
  const tests = operand.map((type, index) => typeTest(type, placeBelow(place, index)));
  return eachPresent((value, present) => tests.some((test) => test(value, present)));
};

function typeTest(type: unknown, place: string) {
  const alias =
    typeof type === 'number' || typeof type === 'bigint' ? typeCodes.get(Number(type)) : type;
  const test = typeof alias === 'string' ? typeTests.get(alias) : undefined;
  if (test) return test;
  const aliases = [...typeTests.keys()];
  const near = typeof type === 'string' && nearestName(type, aliases);
  const hint = near ? ` such as '${near}'` : '';
  throw operandInvalid(place, `a BSON type${hint}: ${aliases.join(', ')}, or its number`, type);
}

function isZero(operand: unknown): boolean {
  return operand === 0 || operand === 0n;
}
