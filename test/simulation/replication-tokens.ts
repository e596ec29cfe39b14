/** A value that is written once: it begins with this. */
const MARK = 't:';

/** A value that nobody else writes. */
export function tokenOf(client: string, count: number, isPoisoned: boolean): string {
  return `${MARK}${client}.${count}${isPoisoned ? '!' : ''}`;
}

/** The number of the browser that wrote a value; `undefined` for the server. */
export function writerOf(token: string): number | undefined {
  const [, browser] = /^t:(\d+)\//.exec(token) ?? [];
  return browser === undefined ? undefined : Number(browser);
}

/** All tokens in a value. */
export function tokensIn(value: unknown): string[] {
  if (typeof value === 'string') return value.startsWith(MARK) ? [value] : [];
  if (typeof value !== 'object' || value === null) return [];
  return Object.values(value).flatMap(tokensIn);
}
