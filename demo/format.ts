const numbers = new Intl.NumberFormat('en');
const clock = new Intl.DateTimeFormat('en-GB', { timeStyle: 'medium' });
const regions = new Intl.DisplayNames('en', { type: 'region', fallback: 'code' });

export const formatNumber = (value: number): string => numbers.format(value);

export const formatClock = (time: Date): string => clock.format(time);

/** A span of milliseconds: `14 ms`, `1.9 s`. */
export function formatSpan(ms: number): string {
  return ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`;
}

/** How long ago: `now`, `12 s ago`, `3 min ago`. */
export function formatAgo(time: Date): string {
  const seconds = Math.floor((Date.now() - time.getTime()) / 1000);
  if (seconds < 1) return 'now';
  if (seconds < 60) return `${seconds} s ago`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ago`;
  return `${Math.floor(seconds / 3600)} h ago`;
}

/** `1 city`, `2 cities`. */
export const formatCities = (count: number): string =>
  `${formatNumber(count)} ${count === 1 ? 'city' : 'cities'}`;

/** The name of a country by its two letters, which can be anything: documents can be edited. */
export function formatCountry(code: string): string {
  return /^[A-Z]{2}$/.test(code) ? (regions.of(code) ?? code) : code;
}

/** `38.72° N  9.13° W` */
export function formatPlace({
  latitude,
  longitude,
}: {
  latitude: number;
  longitude: number;
}): string {
  const north = `${Math.abs(latitude).toFixed(2)}° ${latitude < 0 ? 'S' : 'N'}`;
  const east = `${Math.abs(longitude).toFixed(2)}° ${longitude < 0 ? 'W' : 'E'}`;
  return `${north}  ${east}`;
}
