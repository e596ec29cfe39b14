import type { Ranked } from '../../src/query/index/leaf-list.ts';
import { matchTexts, type TextMatches } from '../../src/query/text/text-matches.ts';

/** All slices of a search at once. */
export function matched<E extends Ranked>(
  ...given: Parameters<typeof matchTexts<E>>
): TextMatches<E> {
  return atOnce(matchTexts(...given));
}

/** What comes of slices. */
export function atOnce<T>(slices: Generator<void, T>): T {
  let step = slices.next();
  while (!step.done) step = slices.next();
  return step.value;
}
