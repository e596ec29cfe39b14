import type { Ranked } from '../../src/query/index/leaf-list.ts';
import { matchTexts, type TextMatches } from '../../src/query/text/text-matches.ts';

/** All slices of a search at once. */
export function matched<E extends Ranked>(
  ...given: Parameters<typeof matchTexts<E>>
): TextMatches<E> {
  const slices = matchTexts(...given);
  let step = slices.next();
  while (!step.done) step = slices.next();
  return step.value;
}
