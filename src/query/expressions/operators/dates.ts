import { isDate, isFields } from '../../value/value-type.ts';
import {
  addMonths,
  DAY,
  dateParts,
  firstDayOf,
  isoDay,
  monthOf,
  weekday,
} from '../dates/calendar.ts';
import { compileFormat, compileParser, parseIso } from '../dates/date-format.ts';
import { timeAt, UTC, type Zone, zoneOf } from '../dates/zone.ts';
import {
  type ExpressionOperator,
  isNullish,
  ofArguments,
  ofSettings,
  type Settings,
  wrongKind,
} from '../operator.ts';

/** A function of a date's time. */
const ofPart =
  (part: (local: number) => number): ExpressionOperator =>
  (operand, place, scope) => {
    const named = isFields(operand) && 'date' in operand;
    const ofDate = named ? ofSettings(['date'], [], ['timezone'], read) : ofArguments(1, 1, plain);
    return ofDate(operand, place, scope);
    function read(settings: Settings, at: string) {
      const { offsetAt } = zoneIn(settings, at);
      return (date: unknown) => {
        const time = timeIn(date, at);
        return part(time + offsetAt(time));
      };
    }
    function plain(at: string) {
      return (date: unknown) => (isNullish(date) ? null : part(timeIn(date, at)));
    }
  };

/** Milliseconds of units that a zone does not change. */
const LENGTHS: Readonly<Record<string, number>> = {
  hour: 3_600_000,
  minute: 60_000,
  second: 1000,
  millisecond: 1,
};
/** Units of the calendar, in days. */
const DAYS: Readonly<Record<string, number>> = { week: 7, day: 1 };
/** Units of the calendar, in months. */
const MONTHS: Readonly<Record<string, number>> = { year: 12, quarter: 3, month: 1 };

const WEEKDAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];
const WEEKDAY =
  /^(?:(?:sun|mon|fri)(?:day)?|tue(?:sday)?|wed(?:nesday)?|thu(?:rsday)?|sat(?:urday)?)$/i;

/** Bins count from 2000-01-01, and those of weeks from the first week that begins then. */
const EPOCH_MONTH = 2000 * 12;
const EPOCH_DAY = firstDayOf(EPOCH_MONTH);

/** `$dateAdd`, and with `-1` `$dateSubtract`. */
const adding = (direction: 1 | -1): ExpressionOperator =>
  ofSettings(['startDate', 'amount'], ['unit'], ['timezone'], (settings, place) => {
    const zone = zoneIn(settings, place);
    const { months, days, length } = unitIn(settings, place);
    return (date, given) => {
      const time = timeIn(date, place);
      if (!Number.isSafeInteger(given)) throw wrongKind(`${place}.amount`, 'a whole number', given);
      const amount = direction * (given as number);
      if (length) return dateAt(time + amount * length, place);
      const local = time + zone.offsetAt(time);
      const moved = months ? addMonths(local, amount * months) : local + amount * days * DAY;
      return dateAt(timeAt(moved, zone), place);
    };
  });

export const dates = {
  ...(Object.fromEntries(
    Object.entries(dateParts).map(([name, part]) => [`$${name}`, ofPart(part)]),
  ) as Record<`$${keyof typeof dateParts}`, ExpressionOperator>),
  $dateAdd: adding(1),
  $dateSubtract: adding(-1),
  $dateDiff: ofSettings(
    ['startDate', 'endDate'],
    ['unit'],
    ['timezone', 'startOfWeek'],
    (settings, place) => {
      const count = counter(settings, place);
      return (start, end) => count(timeIn(end, place)) - count(timeIn(start, place));
    },
  ),
  $dateTrunc: ofSettings(
    ['date'],
    ['unit'],
    ['binSize', 'timezone', 'startOfWeek'],
    (settings, place) => {
      const truncate = truncation(settings, place);
      return (date) => new Date(truncate(timeIn(date, place)));
    },
  ),
  $dateToParts: ofSettings(['date'], [], ['timezone', 'iso8601'], (settings, place) => {
    const { offsetAt } = zoneIn(settings, place);
    const { iso8601 = false } = settings;
    if (typeof iso8601 !== 'boolean') throw wrongKind(`${place}.iso8601`, 'a boolean', iso8601);
    const shown = {
      ...(iso8601
        ? { isoWeekYear: 'isoWeekYear', isoWeek: 'isoWeek', isoDayOfWeek: 'isoDayOfWeek' }
        : { year: 'year', month: 'month', day: 'dayOfMonth' }),
      ...{ hour: 'hour', minute: 'minute', second: 'second', millisecond: 'millisecond' },
    } as Record<string, keyof typeof dateParts>;
    return (date) => {
      const time = timeIn(date, place);
      const local = time + offsetAt(time);
      return Object.fromEntries(
        Object.entries(shown).map(([name, part]) => [name, dateParts[part](local)]),
      );
    };
  }),
  $dateFromParts: (operand, place, scope) => {
    const isIso = isFields(operand) && 'isoWeekYear' in operand;
    const [first, ...others] = isIso
      ? ['isoWeekYear', 'isoWeek', 'isoDayOfWeek']
      : ['year', 'month', 'day'];
    const times = ['hour', 'minute', 'second', 'millisecond'];
    const names = [first as string, ...others, ...times];
    const make = ofSettings([], names.slice(0, 1), [...names.slice(1), 'timezone'], (given, at) => {
      const zone = zoneIn(given, at);
      const [year, second = 1, third = 1, ...time] = names.map((name) => {
        const value = given[name];
        if (value !== undefined && !Number.isSafeInteger(value))
          throw wrongKind(`${at}.${name}`, 'a whole number', value);
        return value as number | undefined;
      }) as [number, ...(number | undefined)[]];
      if (year < 1 || year > 9999) throw wrongKind(`${at}.${first}`, 'a year from 1 to 9999', year);
      const day = isIso
        ? isoDay(year, second, third)
        : firstDayOf(year * 12 + second - 1) + third - 1;
      const [hours = 0, minutes = 0, seconds = 0, milliseconds = 0] = time;
      const local = day * DAY + ((hours * 60 + minutes) * 60 + seconds) * 1000 + milliseconds;
      const date = dateAt(timeAt(local, zone), at);
      return () => date;
    });
    return make(operand, place, scope);
  },
  $dateToString: ofSettings(
    ['date'],
    [],
    ['format', 'timezone'],
    (settings, place) => {
      const zone = zoneIn(settings, place);
      const { format = `%Y-%m-%dT%H:%M:%S.%L${zone === UTC ? 'Z' : ''}` } = settings;
      const write = typeof format === 'string' ? compileFormat(format) : undefined;
      if (!write)
        throw wrongKind(`${place}.format`, 'a format of %Y %m %d %H %M %S %L and the like', format);
      return (date) => write(timeIn(date, place), zone);
    },
    ['onNull'],
  ),
  $dateFromString: ofSettings(
    ['dateString'],
    [],
    ['format', 'timezone'],
    (settings, place) => {
      const zone = settings.timezone === undefined ? undefined : zoneIn(settings, place);
      const { format } = settings;
      const parse =
        format === undefined
          ? parseIso
          : typeof format === 'string'
            ? compileParser(format)
            : undefined;
      if (!parse)
        throw wrongKind(`${place}.format`, 'a format of %Y %m %d %H %M %S %L and the like', format);
      return (text) => {
        const date = typeof text === 'string' ? parse(text, zone) : undefined;
        if (!date) throw wrongKind(place, 'the text of a date in its format', text);
        return date;
      };
    },
    ['onNull', 'onError'],
  ),
} satisfies Record<string, ExpressionOperator>;

/** @throws {CriteriaError} `operand_invalid` unless it is a date. */
function timeIn(value: unknown, place: string): number {
  // Most are of this realm, which is known sooner.
  if (value instanceof Date || isDate(value)) return value.getTime();
  throw wrongKind(place, 'a date', value);
}

function dateAt(time: number, place: string): Date {
  const date = new Date(time);
  if (Number.isNaN(date.getTime())) throw wrongKind(place, 'a result that a date can hold', time);
  return date;
}

function zoneIn({ timezone }: Settings, place: string): Zone {
  if (timezone === undefined) return UTC;
  const zone = typeof timezone === 'string' ? zoneOf(timezone) : undefined;
  if (zone) return zone;
  const wanted = 'the name of a time zone, or an offset such as "+05:30"';
  throw wrongKind(`${place}.timezone`, wanted, timezone);
}

interface Unit {
  readonly months: number;
  readonly days: number;
  readonly length: number;
}

/** A unit; one of its three numbers is above 0. */
function unitIn({ unit }: Settings, place: string): Unit {
  const of = (table: Readonly<Record<string, number>>) =>
    Object.hasOwn(table, String(unit)) ? (table[String(unit)] as number) : 0;
  const [months, days, length] = [of(MONTHS), of(DAYS), of(LENGTHS)];
  if (typeof unit === 'string' && months + days + length > 0) return { months, days, length };
  const all = Object.keys({ ...MONTHS, ...DAYS, ...LENGTHS }).join(', ');
  throw wrongKind(`${place}.unit`, `one of ${all}`, unit);
}

/** The number of the day on which weeks begin, from Sunday, 0. */
function weekStart({ startOfWeek = 'sunday' }: Settings, place: string): number {
  if (typeof startOfWeek === 'string' && WEEKDAY.test(startOfWeek))
    return WEEKDAYS.indexOf(startOfWeek.slice(0, 3).toLowerCase());
  throw wrongKind(`${place}.startOfWeek`, 'a day such as "monday"', startOfWeek);
}

/** Counts the units that have begun until a time, so that a difference is that of their borders. */
function counter(settings: Settings, place: string): (time: number) => number {
  const { months, days, length } = unitIn(settings, place);
  const { offsetAt } = zoneIn(settings, place);
  if (months)
    return (time) => Math.floor(monthOf(Math.floor((time + offsetAt(time)) / DAY)) / months);
  if (days) {
    const shift = days === 7 ? 4 - weekStart(settings, place) : 0;
    return (time) => Math.floor((Math.floor((time + offsetAt(time)) / DAY) + shift) / days);
  }
  // Hours between are those that passed, whatever clocks showed.
  return (time) => {
    const offset = offsetAt(time) % length;
    return Math.floor((time + offset) / length);
  };
}

function truncation(settings: Settings, place: string): (time: number) => number {
  const { months, days, length } = unitIn(settings, place);
  const zone = zoneIn(settings, place);
  const { offsetAt } = zone;
  const { binSize = 1 } = settings;
  if (!Number.isSafeInteger(binSize) || (binSize as number) < 1)
    throw wrongKind(`${place}.binSize`, 'a whole number from 1', binSize);
  const size = binSize as number;
  const toTime = zone === UTC ? (local: number) => local : (local: number) => timeAt(local, zone);
  if (months) {
    const bin = size * months;
    return (time) => {
      const month = monthOf(Math.floor((time + offsetAt(time)) / DAY));
      const begun = Math.floor((month - EPOCH_MONTH) / bin) * bin + EPOCH_MONTH;
      return toTime(firstDayOf(begun) * DAY);
    };
  }
  if (days) {
    const first = weekStart(settings, place);
    const epoch = days === 7 ? EPOCH_DAY + ((7 - weekday(EPOCH_DAY, first)) % 7) : EPOCH_DAY;
    const bin = size * days;
    return (time) => {
      const day = Math.floor((time + offsetAt(time)) / DAY);
      return toTime((Math.floor((day - epoch) / bin) * bin + epoch) * DAY);
    };
  }
  const epoch = timeAt(EPOCH_DAY * DAY, zone);
  const bin = size * length;
  return (time) => Math.floor((time - epoch) / bin) * bin + epoch;
}
