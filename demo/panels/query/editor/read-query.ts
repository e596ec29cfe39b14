import type { Params } from 'cairndb';
import { messageOf } from '../../../parts/message-of.ts';

/** What was typed cannot be read, in words for whoever typed it. */
export class UnreadableQuery extends Error {}

/**
 * Criteria or a function, from what was typed: an expression in JavaScript. It runs in the visitor's own page,
 * which is what the field is for, and only when they ask for it.
 *
 * @throws {UnreadableQuery}
 */
export function readQuery(text: string): Params {
  let value: unknown;
  try {
    value = new Function(`'use strict'; return (${text.trim() || '{}'}\n);`)();
  } catch (cause) {
    // What the browser says of syntax is about more than was typed.
    const what =
      cause instanceof SyntaxError
        ? 'the expression is incomplete, or has extra characters'
        : messageOf(cause);
    throw new UnreadableQuery(`This is not valid yet: ${what}.`, { cause });
  }
  if (typeof value === 'function' || (typeof value === 'object' && value !== null)) {
    return value as Params;
  }
  throw new UnreadableQuery(
    'Write criteria, such as { population: { $gt: 1e6 } }, or a function, such as (city) => city.name.length > 40.',
  );
}
