const FIRST_MS = 1000;
const LAST_MS = 60_000;

/** A server that asks for a longer pause is not obeyed: clients would never come back. */
const LONGEST_PAUSE_MS = 3_600_000;

/**
 * The most milliseconds before the next attempt: from one second, doubled up to a minute.
 *
 * @param failures In a row, from 1.
 */
export function longestDelay(failures: number): number {
  return Math.min(LAST_MS, FIRST_MS * 2 ** Math.min(failures - 1, 16));
}

/**
 * The milliseconds before the next attempt: full jitter, so that clients that a server has lost at
 * once do not come back at once. See
 * https://aws.amazon.com/blogs/architecture/exponential-backoff-and-jitter/
 *
 * @param failures In a row, from 1.
 * @param random From 0 to 1.
 */
export function retryDelay(failures: number, random: () => number): number {
  return random() * longestDelay(failures);
}

/**
 * The milliseconds of a `Retry-After` (RFC 9110, 10.2.3), which is a number of seconds or a date:
 * from 0 to an hour.
 *
 * @param value `null` where there is none.
 * @param now In Unix milliseconds.
 * @returns `undefined` where there is none, or it is neither.
 */
export function readRetryAfter(value: string | null, now: number): number | undefined {
  if (value === null) return undefined;
  const text = value.trim();
  let ms = Number.NaN;
  if (/^\d+$/.test(text)) ms = Number(text) * 1000;
  // Date.parse() makes a date of nearly everything.
  else if (text.endsWith(' GMT')) ms = Date.parse(text) - now;
  return Number.isNaN(ms) ? undefined : Math.min(Math.max(ms, 0), LONGEST_PAUSE_MS);
}
