import { isPlainObject } from '../../codec/kinds.ts';
import { KeyError } from '../../errors/errors.ts';

/** The path to a value inside a value: property names, and indexes of arrays. */
export type ValuePath = readonly (string | number)[];

/** How far past its end an array can be extended: a mistyped index must not exhaust the memory. */
const LARGEST_GAP = 100_000;

type Container = Record<string, unknown> | unknown[];

/** The value at a path, `undefined` where there is none. Only own properties and items count. */
export function getAt(root: unknown, path: ValuePath): unknown {
  let value = root;
  for (const step of path) {
    if (!isContainer(value)) return undefined;
    value = read(value, step);
  }
  return value;
}

/** Whether there is a value at a path; a stored `undefined` is one. */
export function hasAt(root: unknown, path: ValuePath): boolean {
  if (path.length === 0) return true;
  const parent = getAt(root, path.slice(0, -1));
  return isContainer(parent) && owns(parent, path.at(-1) as string);
}

/**
 * Sets the value at a path and returns the root, changed in place where it exists. Missing parents
 * are created: arrays for a number, objects for a name. An index past the end of an array fills the
 * gap with null, as in MongoDB.
 *
 * @param place The path as errors show it.
 * @throws {KeyError} `kind_mismatch` when the path leads through a string, a Date or the like.
 */
export function setAt(root: unknown, path: ValuePath, value: unknown, place: string): unknown {
  const [step, ...rest] = path;
  if (step === undefined) return value;
  const parent = root === undefined ? emptyFor(step) : root;
  if (!isContainer(parent)) throw mismatch(place, parent, 'an object or an array');
  if (Array.isArray(parent)) {
    checkIndex(parent, step, place);
    while (parent.length < Number(step)) parent.push(null);
  }
  (parent as Record<string, unknown>)[step] = setAt(read(parent, step), rest, value, place);
  return parent;
}

/** @throws {KeyError} where {@link setAt} would, and changes nothing. */
export function checkSettable(root: unknown, path: ValuePath, place: string): void {
  let value = root;
  for (const step of path) {
    if (value === undefined) return;
    if (!isContainer(value)) throw mismatch(place, value, 'an object or an array');
    if (Array.isArray(value)) checkIndex(value, step, place);
    value = read(value, step);
  }
}

/** Removes the value at a path; the items behind a removed item of an array move up. */
export function deleteAt(root: unknown, path: ValuePath): boolean {
  const parent = getAt(root, path.slice(0, -1));
  const step = path.at(-1) as string;
  if (!isContainer(parent) || !Object.hasOwn(parent, step)) return false;
  if (Array.isArray(parent)) {
    if (!isIndex(step)) return false;
    parent.splice(Number(step), 1);
  } else delete parent[step];
  return true;
}

/** The error for a value of the wrong kind at a key. */
export function mismatch(place: string, found: unknown, wanted: string): KeyError {
  const kind =
    found === null ? 'null' : Array.isArray(found) ? 'an array' : `a value of type ${typeof found}`;
  return new KeyError(
    'kind_mismatch',
    `Expected ${wanted} at "${place}", found ${kind}; nothing was changed.`,
    {
      place,
    },
  );
}

function read(parent: Container, step: string | number): unknown {
  return owns(parent, step) ? (parent as Record<string, unknown>)[step] : undefined;
}

/** Whether a container has an own property or item; the `length` of an array is neither. */
function owns(parent: Container, step: string | number): boolean {
  return Object.hasOwn(parent, step) && !(Array.isArray(parent) && !isIndex(step));
}

function emptyFor(step: string | number): Container {
  return typeof step === 'number' ? [] : {};
}

function isContainer(value: unknown): value is Container {
  return Array.isArray(value) || isPlainObject(value);
}

function isIndex(step: string | number): boolean {
  return /^(0|[1-9]\d*)$/.test(String(step));
}

function checkIndex(array: readonly unknown[], step: string | number, place: string): void {
  if (isIndex(step) && Number(step) <= array.length + LARGEST_GAP) return;
  throw new KeyError(
    'key_invalid',
    `"${step}" in "${place}" is not a possible index of the array there; allowed are 0 to ${array.length + LARGEST_GAP}. To change its items, use $[] or modify.`,
    { place },
  );
}
