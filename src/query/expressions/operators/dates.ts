import { isDate, isFields } from '../../value/value-type.ts';
import { addMonths, DAY, dateParts, firstDayOf, monthOf, weekday } from '../dates/calendar.ts';
import { compileFormat, compileParser, localOf, parseIso } from '../dates/date-format.ts';
import { timeAt, UTC, type Zone, zoneOf } from '../dates/zone.ts';
import {
  dateAt,
  type ExpressionOperator,
  integerIn,
  ofGiven,
  ofSettings,
  type Settings,
  wrongKind,
} from '../operator.ts';

/** A function of a date's time. */
const ofPart = (part: (local: number) => number): ExpressionOperator => {
  const plain = ofGiven(1, 1, (place, date) => part(timeIn(date, place)));
  const zoned = ofSettings(['date'], [], ['timezone'], (settings, place) => {
    const { offsetAt } = zoneIn(settings, place);
    return (date) => {
      const time = timeIn(date, place);
      return part(time + offsetAt(time));
    };
  });
  return (operand, place, scope) => {
    const isNamed = isFields(operand) && 'date' in operand;
    return (isNamed ? zoned : plain)(operand, place, scope);
  };
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

const WEEKDAYS = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday'];

/** So many begins of bins are kept. */
const MOST_STARTS = 1000;

const EPOCH_MONTH = 2000 * 12;
const EPOCH_DAY = firstDayOf(EPOCH_MONTH);

/** The parts of dates that `$dateToParts` and `$dateFromParts` name. */
const DAY_NAMES = ['year', 'month', 'day'] as const;
const ISO_DAY = ['isoWeekYear', 'isoWeek', 'isoDayOfWeek'] as const;
const TIME_NAMES = ['hour', 'minute', 'second', 'millisecond'] as const;

/** `$dateAdd`, and with `-1` `$dateSubtract`. */
const adding = (direction: 1 | -1): ExpressionOperator =>
  ofSettings(['startDate', 'amount'], ['unit'], ['timezone'], (settings, place) => {
    const zone = zoneIn(settings, place);
    const { months, days, length } = unitIn(settings, place);
    return (date, given) => {
      const time = timeIn(date, place);
      const amount = direction * integerIn(given, `${place}.amount`);
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
      const { numberAt } = unitsIn(settings, place);
      return (start, end) => numberAt(timeIn(end, place)) - numberAt(timeIn(start, place));
    },
  ),
  $dateTrunc: ofSettings(
    ['date'],
    ['unit'],
    ['binSize', 'timezone', 'startOfWeek'],
    (settings, place) => {
      const { numberAt, startOf } = unitsIn(settings, place);
      const size = integerIn(settings.binSize ?? 1, `${place}.binSize`, 1);
      /** Those of the last bins: to make a date takes longer than to find its bin. */
      const starts = new Map<number, Date>();
      return (date) => {
        const bin = Math.floor(numberAt(timeIn(date, place)) / size);
        const known = starts.get(bin);
        if (known) return known;
        const start = new Date(startOf(bin * size));
        if (starts.size === MOST_STARTS) starts.clear();
        starts.set(bin, start);
        return start;
      };
    },
  ),
  $dateToParts: ofSettings(['date'], [], ['timezone', 'iso8601'], (settings, place) => {
    const { offsetAt } = zoneIn(settings, place);
    const { iso8601 = false } = settings;
    if (typeof iso8601 !== 'boolean') throw wrongKind(`${place}.iso8601`, 'a boolean', iso8601);
    const names = [...(iso8601 ? ISO_DAY : DAY_NAMES), ...TIME_NAMES];
    return (date) => {
      const time = timeIn(date, place);
      const local = time + offsetAt(time);
      return Object.fromEntries(
        names.map((name) => [name, dateParts[name === 'day' ? 'dayOfMonth' : name](local)]),
      );
    };
  }),
  $dateFromParts: (operand, place, scope) => {
    const isIso = isFields(operand) && 'isoWeekYear' in operand;
    const names = [...(isIso ? ISO_DAY : DAY_NAMES), ...TIME_NAMES];
    const [first, ...others] = names as [string, ...string[]];
    const make = ofSettings([], [first], [...others, 'timezone'], (given, at) => {
      const parts = names.flatMap((name) => {
        const value = given[name];
        if (value === undefined) return [];
        return [[name === 'day' ? 'dayOfMonth' : name, integerIn(value, `${at}.${name}`)] as const];
      });
      const year = given[first] as number;
      if (year < 1 || year > 9999) throw wrongKind(`${at}.${first}`, 'a year from 1 to 9999', year);
      const said = { ...(isIso ? { isoWeek: 1, isoDayOfWeek: 1 } : { month: 1, dayOfMonth: 1 }) };
      const local = localOf(Object.assign(said, Object.fromEntries(parts))) as number;
      const date = dateAt(timeAt(local, zoneIn(given, at)), at);
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

/** Moves dates in UTC by units. Months, quarters and years count whole. */
export function dateShift(unit: unknown, place: string): (date: Date, by: number) => Date {
  const { months, days, length } = unitIn({ unit }, place);
  return (date, by) => {
    const time = date.getTime();
    if (months) return new Date(addMonths(time, Math.floor(by * months)));
    return new Date(time + by * (length || days * DAY));
  };
}

/** The number of the day on which weeks begin, from Sunday, 0. */
function weekStart({ startOfWeek = 'sunday' }: Settings, place: string): number {
  const name = String(startOfWeek).toLowerCase();
  const day = WEEKDAYS.findIndex((one) => one === name || one.slice(0, 3) === name);
  if (day >= 0) return day;
  throw wrongKind(`${place}.startOfWeek`, 'a day such as "monday"', startOfWeek);
}

/** Units counted from 2000-01-01, those of weeks from the first week that begins then. */
interface Units {
  readonly numberAt: (time: number) => number;
  readonly startOf: (number: number) => number;
}

function unitsIn(settings: Settings, place: string): Units {
  const { months, days, length } = unitIn(settings, place);
  const zone = zoneIn(settings, place);
  const dayAt = (time: number) => Math.floor((time + zone.offsetAt(time)) / DAY);
  const timeOf = (day: number) => timeAt(day * DAY, zone);
  if (months)
    return {
      numberAt: (time) => Math.floor((monthOf(dayAt(time)) - EPOCH_MONTH) / months),
      startOf: (number) => timeOf(firstDayOf(EPOCH_MONTH + number * months)),
    };
  const begun =
    days === 7 ? EPOCH_DAY + ((7 - weekday(EPOCH_DAY, weekStart(settings, place))) % 7) : EPOCH_DAY;
  if (days)
    return {
      numberAt: (time) => Math.floor((dayAt(time) - begun) / days),
      startOf: (number) => timeOf(begun + number * days),
    };
  const start = timeOf(EPOCH_DAY);
  return {
    numberAt: (time) => Math.floor((time - start) / length),
    startOf: (number) => start + number * length,
  };
}
