import { Malformed } from '../../errors/errors.ts';

/** Most lines of a packed page, each a change. */
export const MOST_LINES = 20_000;

/** Deepest nesting that needs no decoding: documents may have 500 levels. */
const PLAIN_DEPTH = 400;

/** Deepest nesting of JSON: a document has up to 500 levels, and a Map takes three for each. */
const MAX_WIRE_DEPTH = 1600;

/**
 * Whether fields of the other side need no decoding.
 *
 * @throws {Malformed} with the defect as a clause.
 */
export function isPlainJson(fields: object): boolean {
  const found = { marks: false };
  walk(fields, 0, found);
  return !found.marks;
}

/** Bounds the recursion of everything that reads the document later. */
function walk(value: unknown, depth: number, found: { marks: boolean }): void {
  if (typeof value === 'number' && !Number.isFinite(value)) {
    throw new Malformed('it has a number that is too large'); // JSON.parse of 1e999
  }
  if (typeof value !== 'object' || value === null) return;
  if (depth === MAX_WIRE_DEPTH) throw new Malformed('it is nested too deeply');
  if (depth === PLAIN_DEPTH) found.marks = true;
  if (Array.isArray(value)) {
    for (const item of value) walk(item, depth + 1, found);
    return;
  }
  let keys = 0;
  let last = '';
  // Hot path of first pulls: unlike `Object.keys`, `for in` makes no list.
  for (const key in value) {
    // Not what another script has added to `Object.prototype`.
    if (!Object.hasOwn(value, key)) continue;
    if (key === '__proto__') throw new Malformed('it has the key __proto__');
    keys++;
    last = key;
    const inner = (value as Record<string, unknown>)[key];
    if (typeof inner !== 'string') walk(inner, depth + 1, found);
  }
  if (keys === 1 && last.startsWith('$')) found.marks = true;
}

/** @throws {Malformed} */
export function parsedLine(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    throw new Malformed(`a line is no JSON, but begins with "${line.slice(0, 60)}"`);
  }
}
