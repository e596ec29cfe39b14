import { DAY } from './calendar.ts';

/** A time zone: local times are UTC plus an offset in milliseconds. */
export interface Zone {
  readonly offsetAt: (time: number) => number;
}

const fixed = (offset: number): Zone => ({ offsetAt: () => offset });

export const UTC: Zone = fixed(0);

const zones = new Map<string, Zone | undefined>();

/** The zone of an Olson name, or of an offset such as `+05:30`; `undefined` if there is none. */
export function zoneOf(name: string): Zone | undefined {
  if (!zones.has(name)) zones.set(name, read(name));
  return zones.get(name);
}

function read(name: string): Zone | undefined {
  if (/^(?:UTC|GMT|Z)$/.test(name)) return UTC;
  if (OFFSET.test(name)) return fixed(offsetOf(name));
  // Browsers read offsets as zones too, of other forms.
  if (!/^[a-z]/i.test(name)) return undefined;
  try {
    return ofIntl(name);
  } catch {
    return undefined; // No browser knows it: the caller says so.
  }
}

const OFFSET = /^([+-])(\d\d):?([0-5]\d)?$/;

/** The offset at the end of a text such as `+05:30` or `GMT-04:56:02`; 0 where there is none. */
function offsetOf(text: string): number {
  const [, sign, ...units] = /([+-])(\d\d?):?(\d\d)?:?(\d\d)?$/.exec(text) ?? [];
  const [hours = 0, minutes = 0, seconds = 0] = units.map((unit = '0') => Number(unit));
  return Number(`${sign ?? '+'}1`) * ((hours * 60 + minutes) * 60 + seconds) * 1000;
}

interface OffsetDay {
  readonly before: number;
  readonly after: number;
  readonly at: number;
}

/** Intl takes microseconds, so the offsets of a day are kept. */
function ofIntl(timeZone: string): Zone {
  const format = new Intl.DateTimeFormat('en-US', { timeZone, timeZoneName: 'longOffset' });
  const ask = (time: number) => offsetOf(format.format(time));
  const days = new Map<number, OffsetDay>();
  const askDay = (day: number): OffsetDay => {
    let [low, high] = [day * DAY, (day + 1) * DAY];
    const [before, after] = [ask(low), ask(high)];
    while (before !== after && high - low > 1000) {
      const middle = Math.floor((low + high) / 2000) * 1000;
      if (ask(middle) === before) low = middle;
      else high = middle;
    }
    return { before, after, at: high };
  };
  let last = Number.NaN;
  let known: OffsetDay = { before: 0, after: 0, at: 0 };
  return {
    offsetAt(time) {
      const day = Math.floor(time / DAY);
      if (day !== last) {
        known = days.get(day) ?? askDay(day);
        days.set(day, known);
        last = day;
      }
      return time < known.at ? known.before : known.after;
    },
  };
}

/**
 * The time at which clocks show a local time: the earlier one where they show it twice; where they
 * skip it, as much later as they skip.
 */
export function timeAt(local: number, { offsetAt }: Zone): number {
  const before = offsetAt(local - DAY);
  const after = offsetAt(local + DAY);
  const early = local - before;
  if (before === after || offsetAt(early) === before) return early;
  return offsetAt(local - after) === after ? local - after : early;
}
