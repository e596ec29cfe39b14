/** The longest delays of the first retry and of all later ones, in milliseconds. */
const FIRST_MS = 1000;
const LAST_MS = 60_000;

/**
 * The delay before the next attempt: full jitter, so that clients that a server has lost at once do not come back at
 * once. See https://aws.amazon.com/blogs/architecture/exponential-backoff-and-jitter/
 *
 * @param failures In a row, from 1.
 * @param asked What the server asked for, in milliseconds: never earlier.
 */
export function retryDelay(
  failures: number,
  asked: number | undefined,
  random: () => number,
): number {
  const longest = Math.min(LAST_MS, FIRST_MS * 2 ** Math.min(failures - 1, 16));
  return (asked ?? 0) + random() * longest;
}
