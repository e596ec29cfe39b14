import { summarize } from '../page/statistics.mjs';
import { figure } from './print-table.mjs';

/** The headings of {@link compared}. */
export const COMPARED = ['now', 'then', 'of medians', 'of minima'];

/**
 * The cells of a figure of two builds.
 *
 * @param {readonly number[]} now
 * @param {readonly number[]} then
 */
export function compared(now, then) {
  const [own, other] = [summarize(now), summarize(then)];
  const ratios = [own.median / other.median, own.min / other.min];
  return [own.median, other.median, ...ratios].map(figure);
}
