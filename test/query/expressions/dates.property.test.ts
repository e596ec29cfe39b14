import { expect, test } from 'vitest';
import { compileExpression } from '../../../src/query/expressions/compile-expression.ts';
import { fc, runs } from '../../setup/properties.ts';

const of = (expression: unknown) => compileExpression(expression, 'x', { now: 0 }).evaluate({});

const anyDate = fc.integer({ min: -8.64e15, max: 8.64e15 }).map((time) => new Date(time));
const date = fc
  .integer({ min: Date.UTC(1901, 0), max: Date.UTC(2099, 0) })
  .map((time) => new Date(time));
const zone = fc.constantFrom(
  ...['Europe/Berlin', 'America/New_York', 'America/Sao_Paulo', 'Asia/Kolkata', 'Asia/Tehran'],
  ...['Australia/Lord_Howe', 'Pacific/Apia', 'Africa/Casablanca', 'America/St_Johns', 'UTC'],
);

test('the parts of dates are those that Date has', () => {
  fc.assert(
    fc.property(anyDate, (one) => {
      const parts = of({ $dateToParts: { date: one } }) as Record<string, number>;
      expect(Object.values(parts)).toEqual([
        ...[one.getUTCFullYear(), one.getUTCMonth() + 1, one.getUTCDate()],
        ...[one.getUTCHours(), one.getUTCMinutes(), one.getUTCSeconds(), one.getUTCMilliseconds()],
      ]);
      expect(of({ $dayOfWeek: one })).toBe(one.getUTCDay() + 1);
    }),
    runs(2000),
  );
});

test('ISO weeks begin on Mondays, and the first one has a Thursday', () => {
  fc.assert(
    fc.property(date, (one) => {
      const { isoWeekYear, isoWeek, isoDayOfWeek } = of({
        $dateToParts: { date: one, iso8601: true },
      }) as Record<'isoWeekYear' | 'isoWeek' | 'isoDayOfWeek', number>;
      const thursday = new Date(one.getTime() + (4 - isoDayOfWeek) * 86_400_000);
      expect(isoDayOfWeek).toBe(one.getUTCDay() || 7);
      expect(isoWeekYear).toBe(thursday.getUTCFullYear());
      const first = Date.UTC(isoWeekYear, 0, 1);
      expect(isoWeek).toBe(Math.floor((thursday.getTime() - first) / (7 * 86_400_000)) + 1);
    }),
    runs(2000),
  );
});

test('local times are those that Intl writes', () => {
  const formats = new Map<string, Intl.DateTimeFormat>();
  const formatOf = (timeZone: string) => {
    const known = formats.get(timeZone);
    if (known) return known;
    const made = new Intl.DateTimeFormat('sv-SE', {
      ...{ timeZone, dateStyle: 'short', timeStyle: 'medium' },
    });
    formats.set(timeZone, made);
    return made;
  };
  fc.assert(
    fc.property(date, zone, (one, timezone) => {
      const written = of({ $dateToString: { date: one, timezone, format: '%Y-%m-%d %H:%M:%S' } });
      expect(written).toBe(formatOf(timezone).format(one));
    }),
    runs(2000),
  );
});

test('a text in a zone is read as the date that it was written of', () => {
  fc.assert(
    fc.property(date, zone, (one, timezone) => {
      const [text, offset] = ['%Y-%m-%dT%H:%M:%S.%L', '%z'].map((format) =>
        of({ $dateToString: { date: one, timezone, format } }),
      ) as [string, string];
      const [read, zoned] = [
        of({ $dateFromString: { dateString: text, timezone } }),
        of({ $dateFromString: { dateString: text + offset } }),
      ] as [Date, Date];
      // Clocks that are put back show a time twice; some offsets before 1970 have seconds.
      expect(Math.abs(zoned.getTime() - one.getTime())).toBeLessThan(60_000);
      const again = of({ $dateToString: { date: read, timezone, format: '%Y-%m-%dT%H:%M:%S.%L' } });
      expect(again).toBe(text);
      expect(read.getTime()).toBeLessThanOrEqual(one.getTime());
    }),
    runs(2000),
  );
});

test('a truncated date is the start of its unit, and adding units counts them', () => {
  const unit = fc.constantFrom('day', 'week', 'month', 'quarter', 'year');
  fc.assert(
    fc.property(date, zone, unit, fc.integer({ min: -40, max: 40 }), (one, timezone, u, amount) => {
      const trunc = (given: Date) => of({ $dateTrunc: { date: given, unit: u, timezone } }) as Date;
      const start = trunc(one);
      expect(start.getTime()).toBeLessThanOrEqual(one.getTime());
      expect(trunc(start)).toEqual(start);
      expect(trunc(new Date(start.getTime() - 1)).getTime()).toBeLessThan(start.getTime());
      const moved = of({ $dateAdd: { startDate: one, unit: u, amount, timezone } });
      expect(of({ $dateDiff: { startDate: one, endDate: moved, unit: u, timezone } })).toBe(amount);
    }),
    runs(2000),
  );
});
