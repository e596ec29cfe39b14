import { unsealed } from './sealed-documents.ts';

/** A value that is written once: it begins with this. */
const MARK = 't:';

/** A value that nobody else writes. */
export function tokenOf(client: string, count: number, isPoisoned: boolean): string {
  return `${MARK}${client}.${count}${isPoisoned ? '!' : ''}`;
}

/** The number of the browser that wrote a value; `undefined` for the server. */
export function writerOf(token: string): number | undefined {
  const [, browser] = /^t:(\d+)[/.]/.exec(token) ?? [];
  return browser === undefined ? undefined : Number(browser);
}

/**
 * What the n-th count adds to a counter: a digit of its own, which shows whether it was lost, or
 * counted twice.
 */
export function stepOf(nth: number): bigint {
  return 4n ** BigInt(nth);
}

export function countToken(nth: number): string {
  return `${MARK}count ${nth}`;
}

export function isCount(token: string): boolean {
  return token.startsWith(countToken(0).slice(0, -1));
}

function countsIn(counter: bigint): string[] {
  return [...counter.toString(4)]
    .reverse()
    .flatMap((digit, nth) => new Array<string>(Number(digit)).fill(countToken(nth)));
}

/** All tokens in a value. */
export function tokensIn(value: unknown): string[] {
  if (typeof value === 'bigint') return countsIn(value);
  if (typeof value === 'string') return value.startsWith(MARK) ? [value] : [];
  if (typeof value !== 'object' || value === null) return [];
  return Object.values(unsealed(value)).flatMap(tokensIn);
}
