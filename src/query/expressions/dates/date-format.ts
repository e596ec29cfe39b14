import { DAY, type DatePart, dateParts, firstDayOf, isoDay } from './calendar.ts';
import { timeAt, UTC, type Zone, zoneOf } from './zone.ts';

const MONTHS = [
  'January',
  'February',
  'March',
  'April',
  'May',
  'June',
  'July',
  'August',
  'September',
  'October',
  'November',
  'December',
];

/** Numbers in a format: how many digits they have, and what they are. */
const numbers: Readonly<Record<string, readonly [digits: number, part: DatePart]>> = {
  Y: [4, 'year'],
  m: [2, 'month'],
  d: [2, 'dayOfMonth'],
  H: [2, 'hour'],
  M: [2, 'minute'],
  S: [2, 'second'],
  L: [3, 'millisecond'],
  j: [3, 'dayOfYear'],
  G: [4, 'isoWeekYear'],
  V: [2, 'isoWeek'],
  u: [1, 'isoDayOfWeek'],
  U: [2, 'week'],
  w: [1, 'dayOfWeek'],
};

/** Writes a local time with its offset. */
const texts: Readonly<Record<string, (local: number, offset: number) => string>> = {
  b: (local) => (MONTHS[dateParts.month(local) - 1] as string).slice(0, 3),
  B: (local) => MONTHS[dateParts.month(local) - 1] as string,
  z: (_, offset) => {
    const minutes = Math.abs(Math.trunc(offset / 60_000));
    return sign(offset) + padded(Math.floor(minutes / 60), 2) + padded(minutes % 60, 2);
  },
  Z: (_, offset) => sign(offset) + Math.abs(offset) / 60_000,
  '%': () => '%',
};

const sign = (offset: number) => (offset < 0 ? '-' : '+');
const padded = (value: number, digits: number) => String(value).padStart(digits, '0');

/** A function that writes dates, `undefined` for a format with an unknown letter. */
export function compileFormat(format: string): ((time: number, zone: Zone) => string) | undefined {
  const pieces = split(format).map(([text, letter]) => {
    if (letter === undefined) return () => text;
    const [digits, part] = (Object.hasOwn(numbers, letter) && numbers[letter]) || [];
    if (digits && part) return (local: number) => padded(dateParts[part](local), digits);
    return Object.hasOwn(texts, letter) ? texts[letter] : undefined;
  });
  if (pieces.includes(undefined)) return undefined;
  return (time, zone) => {
    const offset = zone.offsetAt(time);
    return pieces.map((write) => write?.(time + offset, offset)).join('');
  };
}

/** The texts of a format, each with its letter if it is a specifier. */
function split(format: string): readonly (readonly [text: string, letter?: string])[] {
  const parts = format.match(/%.?|[^%]+/gs) ?? [];
  return parts.map((text) => (text.startsWith('%') ? [text, text.slice(1)] : [text]));
}

/** Reads the date in a text; `undefined` where there is none. */
export type ParseDate = (text: string, zone: Zone | undefined) => Date | undefined;

/** What a text says of a date. */
type Said = Partial<Record<DatePart, number>> & { zone?: Zone | undefined };

const ISO =
  /^\s*(\d{4})-(\d\d?)-(\d\d?)(?:[T ](\d\d?):(\d\d)(?::(\d\d)(?:[.,](\d{1,9}))?)?)?\s*([+-]\d\d(?::?\d\d)?|[a-z][\w/+-]*)?\s*$/i;

/** Reads ISO 8601, with a space for its T, and a zone behind it. */
export const parseIso: ParseDate = (text, zone) => {
  const [found, ...groups] = ISO.exec(text) ?? [];
  if (found === undefined) return undefined;
  const [year, month, dayOfMonth, hour, minute, second] = groups
    .slice(0, 6)
    .map((digits) => (digits === undefined ? undefined : Number(digits)));
  const said = { year, month, dayOfMonth, hour, minute, second } as Said;
  said.millisecond = Math.floor(Number(`0.${groups[6] ?? 0}`) * 1000);
  const name = groups[7];
  const own = name === undefined ? zone : zoneOf(name);
  return name !== undefined && (zone || !own) ? undefined : dateOf({ ...said, zone: own });
};

/** Reads a letter: its pattern, and what a found text says. */
type Reader = readonly [pattern: string, read: (found: string) => Said];

const readers: Readonly<Record<string, Reader>> = {
  b: [MONTHS.map((name) => name.slice(0, 3)).join('|'), monthNamed],
  B: [MONTHS.join('|'), monthNamed],
  z: ['[+-]\\d\\d:?\\d\\d|Z', (found) => ({ zone: zoneOf(found) })],
  Z: ['[+-]\\d{1,3}', (found) => ({ zone: { offsetAt: () => Number(found) * 60_000 } })],
};

function monthNamed(name: string): Said {
  const start = name.slice(0, 3).toLowerCase();
  return { month: MONTHS.findIndex((one) => one.toLowerCase().startsWith(start)) + 1 };
}

function readerOfLetter(letter: string): Reader | undefined {
  const [digits, part] = (Object.hasOwn(numbers, letter) && numbers[letter]) || [];
  if (!digits || !part) return Object.hasOwn(readers, letter) ? readers[letter] : undefined;
  if ('Uw'.includes(letter)) return undefined;
  const least = digits === 4 ? 4 : 1;
  return [`\\d{${least},${digits}}`, (found) => ({ [part]: Number(found) })];
}

/** A function that reads dates, `undefined` for a format with a letter that cannot be read. */
export function compileParser(format: string): ParseDate | undefined {
  const used: Reader[] = [];
  let pattern = '';
  for (const [text, letter] of split(format)) {
    if (letter === undefined || letter === '%') {
      pattern += (letter ?? text).replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
      continue;
    }
    const reader = readerOfLetter(letter);
    if (!reader) return undefined;
    pattern += `(${reader[0]})`;
    used.push(reader);
  }
  const whole = new RegExp(`^${pattern}$`, 'i');
  return (text, zone) => {
    const [found, ...groups] = whole.exec(text) ?? [];
    if (found === undefined) return undefined;
    const said: Said = Object.assign({}, ...used.map(([, read], at) => read(groups[at] as string)));
    return said.zone && zone ? undefined : dateOf({ ...said, zone: said.zone ?? zone });
  };
}

/** The local time of parts: by the calendar, by the day of the year, or by ISO's weeks. */
export function localOf(said: Said): number | undefined {
  const { year = Number.NaN, month, dayOfMonth = Number.NaN, dayOfYear } = said;
  const { isoWeekYear, isoWeek = Number.NaN, isoDayOfWeek = Number.NaN } = said;
  const { hour = 0, minute = 0, second = 0, millisecond = 0 } = said;
  const day =
    month !== undefined
      ? firstDayOf(year * 12 + month - 1) + dayOfMonth - 1
      : dayOfYear !== undefined
        ? firstDayOf(year * 12) + dayOfYear - 1
        : isoDay(isoWeekYear ?? Number.NaN, isoWeek, isoDayOfWeek);
  const local = day * DAY + ((hour * 60 + minute) * 60 + second) * 1000 + millisecond;
  return Number.isNaN(local) ? undefined : local;
}

function dateOf({ zone = UTC, ...said }: Said): Date | undefined {
  const local = localOf(said);
  if (local === undefined) return undefined;
  // A day such as February 30 is another one now.
  const isThere = Object.entries(said).every(
    ([part, value]) => value === undefined || dateParts[part as DatePart](local) === value,
  );
  return isThere ? new Date(timeAt(local, zone)) : undefined;
}
