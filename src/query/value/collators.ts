import type { Collations } from './collation.ts';
import { type Compare, comparesStringsBy } from './compare-values.ts';

const SENSITIVITY = ['base', 'accent', 'variant'] as const;

const orders = new Map<string, Compare>();

/** The order of values in a collation. */
function orderOf(collation: string): Compare {
  let order = orders.get(collation);
  if (!order) {
    order = comparesStringsBy(collatorOf(collation).compare);
    orders.set(collation, order);
  }
  return order;
}

/** The collator of a collation, made anew. */
export function collatorOf(collation: string): Intl.Collator {
  const [locale, strength, ...others] = collation.split(' ');
  const first = others.find((one) => one !== 'numeric');
  return new Intl.Collator(locale, {
    sensitivity: SENSITIVITY[Number(strength) - 1],
    // Left out where the locale may say it.
    numeric: others.includes('numeric') || undefined,
    caseFirst: first === 'off' ? 'false' : (first as 'upper' | 'lower' | undefined),
  });
}

/**
 * How a collation orders a sample of all scripts, and of letters that count as one in a locale. It
 * changes with the data of the browser.
 */
function probeOf(collation: string): string {
  const order = orderOf(collation);
  const sample = ['aa', 'ch', 'cs', 'dz', 'll', 'nj', 'ss', 'co-op', 'coop', '9', '10'];
  for (let code = 33; code < 0xd800; code += 1 + (code >> 5))
    sample.push(String.fromCodePoint(code));
  const places = sample.map((_, at) => at).sort((a, b) => order(sample[a], sample[b]) || a - b);
  return places
    .map((at, place) => {
      const isEqual = place > 0 && order(sample[places[place - 1] as number], sample[at]) === 0;
      return isEqual ? `=${at}` : at;
    })
    .join();
}

export const collators: Collations = { orderOf, collatorOf, probeOf };
