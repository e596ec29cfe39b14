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
  if (name !== undefined && (zone || !zoneOf(name))) return undefined;
  return dateOf({ ...said, zone: name === undefined ? zone : zoneOf(name) });
};

/** A function that reads dates, `undefined` for a format with a letter that cannot be read. */
export function compileParser(format: string): ParseDate | undefined {
  const readers: ((text: string, said: Said) => void)[] = [];
  let pattern = '';
  for (const [text, letter] of split(format)) {
    if (letter === undefined || letter === '%') {
      pattern += (letter ?? text).replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
      continue;
    }
    const [digits, part] = (Object.hasOwn(numbers, letter) && numbers[letter]) || [];
    if (digits && part && !'Uw'.includes(letter)) {
      pattern += digits === 4 ? '(\\d{4})' : `(\\d{1,${digits}})`;
      readers.push((found, said) => {
        said[part] = Number(found);
      });
    } else if (letter === 'b' || letter === 'B') {
      pattern += `(${MONTHS.map((name) => (letter === 'b' ? name.slice(0, 3) : name)).join('|')})`;
      readers.push((found, said) => {
        const start = found.slice(0, 3).toLowerCase();
        said.month = MONTHS.findIndex((name) => name.toLowerCase().startsWith(start)) + 1;
      });
    } else if (letter === 'z') {
      pattern += '([+-]\\d\\d:?\\d\\d|Z)';
      readers.push((found, said) => {
        said.zone = zoneOf(found);
      });
    } else if (letter === 'Z') {
      pattern += '([+-]\\d{1,3})';
      readers.push((found, said) => {
        const offset = Number(found) * 60_000;
        said.zone = { offsetAt: () => offset };
      });
    } else return undefined;
  }
  const whole = new RegExp(`^${pattern}$`, 'i');
  return (text, zone) => {
    const [found, ...groups] = whole.exec(text) ?? [];
    if (found === undefined) return undefined;
    const said: Said = {};
    for (const [index, read] of readers.entries()) read(groups[index] as string, said);
    if (said.zone && zone) return undefined;
    return dateOf({ ...said, zone: said.zone ?? zone });
  };
}

/** The date of its parts: by the calendar, by the day of the year, or by ISO's weeks. */
function dateOf(said: Said): Date | undefined {
  const { year, month, dayOfMonth, dayOfYear, isoWeekYear, isoWeek, isoDayOfWeek } = said;
  const { hour = 0, minute = 0, second = 0, millisecond = 0, zone = UTC } = said;
  let day: number | undefined;
  if (year !== undefined && month !== undefined && dayOfMonth !== undefined)
    day = firstDayOf(year * 12 + month - 1) + dayOfMonth - 1;
  else if (year !== undefined && dayOfYear !== undefined)
    day = firstDayOf(year * 12) + dayOfYear - 1;
  else if (isoWeekYear !== undefined && isoWeek !== undefined && isoDayOfWeek !== undefined)
    day = isoDay(isoWeekYear, isoWeek, isoDayOfWeek);
  if (day === undefined) return undefined;
  const local = day * DAY + ((hour * 60 + minute) * 60 + second) * 1000 + millisecond;
  // A day such as February 30 is another one now.
  const isThere = Object.entries(said).every(
    ([part, value]) =>
      value === undefined || part === 'zone' || dateParts[part as DatePart](local) === value,
  );
  return isThere ? new Date(timeAt(local, zone)) : undefined;
}
