import type { Params, PipelineStage } from 'cairndb';
import { messageOf } from '../../../parts/message-of.ts';

/** The input is not a valid query; the message is for the visitor. */
export class UnreadableQuery extends Error {}

/**
 * Evaluates the input, a JavaScript expression for criteria, a function or a pipeline. It runs in
 * the visitor's own page, and only when they press Run.
 *
 * @throws {UnreadableQuery}
 */
export function readQuery(text: string): Params | readonly PipelineStage[] {
  let value: unknown;
  try {
    value = new Function(`'use strict'; return (${text.trim() || '{}'}\n);`)();
  } catch (cause) {
    // The browser's message is about the wrapper as well.
    const what =
      cause instanceof SyntaxError
        ? 'the expression is incomplete, or has extra characters'
        : messageOf(cause);
    throw new UnreadableQuery(`This is not valid yet: ${what}.`, { cause });
  }
  if (typeof value === 'function' || (typeof value === 'object' && value !== null)) {
    return value as Params | readonly PipelineStage[];
  }
  throw new UnreadableQuery(
    'Write criteria, such as { population: { $gt: 1e6 } }, a pipeline, such as [{ $sortByCount: "$country" }], or a function, such as (city) => city.name.length > 40.',
  );
}
