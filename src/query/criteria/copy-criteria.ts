import { copy } from '../../codec/capture.ts';
import { criteriaInvalid, operandInvalid, placeBelow } from '../query-errors.ts';
import { bracket, bracketOf, isFields } from '../value/value-type.ts';

/** Deepest nesting of criteria, operands included. */
const MAX_CRITERIA_DEPTH = 100;

/**
 * A private deep copy of criteria, made of plain data only.
 *
 * Criteria are read once and by descriptor: no getter runs, and later changes of the caller's object have no effect.
 * The copy has no accessors, class instances, `__proto__`, holes or cycles, and at most 100 levels.
 */
export function copyCriteria(value: unknown, place: string, depth = 0): unknown {
  if (typeof value === 'function' || typeof value === 'symbol') {
    throw operandInvalid(place || 'criteria', 'a value that documents can hold', value);
  }
  if (typeof value !== 'object' || value === null) return value;
  if (depth > MAX_CRITERIA_DEPTH) {
    throw criteriaInvalid(
      shorten(place),
      `are nested over ${MAX_CRITERIA_DEPTH} levels, or contain themselves.`,
    );
  }
  if (Array.isArray(value)) return copyItems(value, place, depth);
  if (isFields(value)) return copyFields(value, place, depth);
  return copyBuiltIn(value, place, depth);
}

function copyItems(items: readonly unknown[], place: string, depth: number): unknown[] {
  const result: unknown[] = [];
  for (let index = 0; index < items.length; index++) {
    const at = placeBelow(place, index);
    result.push(copyCriteria(ownValue(items, String(index), at), at, depth + 1));
  }
  return result;
}

function copyFields(fields: object, place: string, depth: number): Record<string, unknown> {
  const result: Record<string, unknown> = {};
  for (const key of Object.keys(fields)) {
    const at = placeBelow(place, key);
    if (key === '__proto__')
      throw criteriaInvalid(at, 'use the key "__proto__", which no document has.');
    result[key] = copyCriteria(ownValue(fields, key, at), at, depth + 1);
  }
  if (Object.getOwnPropertySymbols(fields).length > 0) {
    throw criteriaInvalid(place, 'have a symbol as a key; use strings.');
  }
  return result;
}

function ownValue(container: object, key: string, place: string): unknown {
  const descriptor = Object.getOwnPropertyDescriptor(container, key);
  if (!descriptor) throw criteriaInvalid(place, 'are a hole in an array; use null.');
  if (!('value' in descriptor)) {
    throw criteriaInvalid(place, 'are a getter or setter; use a plain value.');
  }
  return descriptor.value;
}

function copyBuiltIn(value: object, place: string, depth: number): unknown {
  switch (bracketOf(value)) {
    case bracket.map:
      return new Map(
        Array.from(value as Map<unknown, unknown>, ([key, item]) => [
          copyCriteria(key, placeBelow(place, '<key>'), depth + 1),
          copyCriteria(item, placeBelow(place, '<value>'), depth + 1),
        ]),
      );
    case bracket.set:
      return new Set(
        Array.from(value as Set<unknown>, (item, index) =>
          copyCriteria(item, placeBelow(place, index), depth + 1),
        ),
      );
    case bracket.other:
      throw criteriaInvalid(
        place,
        'are an instance of a class; use plain objects and values that documents can hold.',
      );
    default:
      return copy(value);
  }
}

function shorten(place: string): string {
  return place.length > 200 ? `${place.slice(0, 200)}…` : place;
}
