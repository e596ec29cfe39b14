/**
 * The Gregorian calendar in numbers: days since 1970-01-01, months since the year 0, and local
 * times in milliseconds, as if the zone were UTC. No Date is made, as most of the work of a
 * `$group` by month would be that.
 */

export const DAY = 86_400_000;
const HOUR = 3_600_000;
const MINUTE = 60_000;

/** The remainder that is never negative. */
function modulo(value: number, by: number): number {
  return value - by * Math.floor(value / by);
}

/** The first day of a month, which may be outside of its year. */
export function firstDayOf(month: number): number {
  // Years begin in March, so that the leap day is the last one.
  const shifted = month - 2;
  const year = Math.floor(shifted / 12);
  const days = Math.floor((153 * (shifted - 12 * year) + 2) / 5);
  const leaps = Math.floor(year / 4) - Math.floor(year / 100) + Math.floor(year / 400);
  return year * 365 + leaps + days - 719_468;
}

/** The month of a day, counted from the year 0. */
export function monthOf(day: number): number {
  const shifted = day + 719_468;
  const era = Math.floor(shifted / 146_097);
  const within = shifted - era * 146_097;
  const years = Math.floor(
    (within -
      Math.floor(within / 1460) +
      Math.floor(within / 36_524) -
      Math.floor(within / 146_096)) /
      365,
  );
  const days = within - (365 * years + Math.floor(years / 4) - Math.floor(years / 100));
  return (era * 400 + years) * 12 + Math.floor((5 * days + 2) / 153) + 2;
}

/** The same day of another month, or the last one of a shorter month. */
export function addMonths(local: number, months: number): number {
  const day = Math.floor(local / DAY);
  const month = monthOf(day);
  const first = firstDayOf(month + months);
  const last = firstDayOf(month + months + 1) - 1;
  return Math.min(first + day - firstDayOf(month), last) * DAY + local - day * DAY;
}

/** The day of the week from 0, which is that of `first`: 1970-01-01 was a Thursday. */
export function weekday(day: number, first: number): number {
  return modulo(day + 4 - first, 7);
}

/** The first day of the year in which ISO counts a week: that of its Thursday. */
function isoYear(local: number): { year: number; thursday: number } {
  const day = Math.floor(local / DAY);
  const thursday = day - weekday(day, 1) + 3;
  return { year: Math.floor(monthOf(thursday) / 12), thursday };
}

export function isoDay(year: number, week: number, day: number): number {
  const fourth = firstDayOf(year * 12) + 3;
  return fourth - weekday(fourth, 1) + (week - 1) * 7 + day - 1;
}

const dayOf = (local: number) => Math.floor(local / DAY);
const year = (local: number) => Math.floor(monthOf(dayOf(local)) / 12);
const dayOfYear = (local: number) => dayOf(local) - firstDayOf(year(local) * 12) + 1;

/** The parts of a local time, named as their operators are. */
export const dateParts = {
  year,
  month: (local: number) => modulo(monthOf(dayOf(local)), 12) + 1,
  dayOfMonth: (local: number) => dayOf(local) - firstDayOf(monthOf(dayOf(local))) + 1,
  hour: (local: number) => modulo(Math.floor(local / HOUR), 24),
  minute: (local: number) => modulo(Math.floor(local / MINUTE), 60),
  second: (local: number) => modulo(Math.floor(local / 1000), 60),
  millisecond: (local: number) => modulo(local, 1000),
  dayOfYear,
  dayOfWeek: (local: number) => weekday(dayOf(local), 0) + 1,
  /** Weeks begin on Sundays; days before the first one are in week 0. */
  week: (local: number) => Math.floor((dayOfYear(local) + 6 - weekday(dayOf(local), 0)) / 7),
  isoDayOfWeek: (local: number) => weekday(dayOf(local), 1) + 1,
  isoWeek: (local: number) => {
    const { year, thursday } = isoYear(local);
    return Math.floor((thursday - firstDayOf(year * 12)) / 7) + 1;
  },
  isoWeekYear: (local: number) => isoYear(local).year,
} satisfies Record<string, (local: number) => number>;

export type DatePart = keyof typeof dateParts;
