const numbers = new Intl.NumberFormat('en');
const short = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 });
const clock = new Intl.DateTimeFormat('en-GB', { timeStyle: 'medium' });

export const formatNumber = (value: number): string => numbers.format(value);

/** `135K`, `22.3M` */
export const formatShort = (value: number): string => short.format(value);

export const formatClock = (time: Date): string => clock.format(time);

/** A span of milliseconds: `0.4 ms`, `14 ms`, `1.9 s`. */
export function formatSpan(ms: number): string {
  if (ms >= 1000) return `${(ms / 1000).toFixed(1)} s`;
  return ms < 10 ? `${ms.toFixed(1)} ms` : `${Math.round(ms)} ms`;
}

/** How many a second; undefined before the first, when there is no time to divide by. */
export function formatRate(count: number, ms: number | undefined): string | undefined {
  return count > 0 && ms ? formatNumber(Math.round((count / ms) * 1000)) : undefined;
}

/** `512 B`, `14 kB`, `2.4 MB` */
export function formatBytes(bytes: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB'];
  let value = bytes;
  let unit = 0;
  while (value >= 1000 && unit < units.length - 1) {
    value /= 1000;
    unit += 1;
  }
  return `${unit > 0 && value < 10 ? value.toFixed(1) : Math.round(value)} ${units[unit]}`;
}

/** `1 document`, `2 documents`. */
export const formatCount = (count: number, one: string, many = `${one}s`): string =>
  `${formatNumber(count)} ${count === 1 ? one : many}`;

const days = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeZone: 'UTC' });

export const formatDay = (time: Date): string => days.format(time);

const moments = new Intl.DateTimeFormat('en-GB', {
  day: 'numeric',
  month: 'short',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
});

/** `21 Nov, 14:03:12` */
export const formatMoment = (time: Date): string => moments.format(time);
