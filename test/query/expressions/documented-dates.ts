import { type Documented, REFUSED } from './documented-cases.ts';

const utc = (text: string) => new Date(`${text}Z`);

/** A Saturday in a leap year of 53 weeks. */
const jan = utc('2016-01-02T08:09:05.123');
const doc = {
  date: utc('2017-06-19T15:08:51.321'),
  jan,
  none: null,
  zone: 'America/New_York',
  order: utc('2021-03-20T11:30:05'),
  text: '2017-02-08T12:10:40.787',
};
const trunc = (date: string, unit: string, more = {}) => ({
  $dateTrunc: { date: utc(date), unit, ...more },
});
const diff = (startDate: string, endDate: string, unit: string, more = {}) => ({
  $dateDiff: { startDate: utc(startDate), endDate: utc(endDate), unit, ...more },
});
const add = (startDate: string, unit: string, amount: unknown, more = {}) => ({
  $dateAdd: { startDate: utc(startDate), unit, amount, ...more },
});

export const documentedDates: Documented = {
  document: doc,
  cases: {
    $year: [
      [{ $year: '$date' }, 2017],
      [{ $year: ['$date'] }, 2017],
      [{ $year: { date: '$date' } }, 2017],
      [{ $year: { date: utc('2017-01-01T02:00'), timezone: 'America/Chicago' } }, 2016],
      [{ $year: '$none' }, null],
      [{ $year: '$missing' }, null],
      [{ $year: { date: '$date', timezone: '$none' } }, null],
      [{ $year: '2016-01-01' }, REFUSED],
      [{ $year: { date: '$date', timezone: 'Mars/Base' } }, REFUSED],
      [{ $year: { date: '$date', zone: 'UTC' } }, REFUSED],
      [{ $year: utc('0001-01-01T00:00') }, 1],
      [{ $year: new Date(-62_200_000_000_000) }, -2],
    ],
    $month: [
      [{ $month: '$date' }, 6],
      [{ $month: { date: utc('2016-11-01T02:00'), timezone: '-0500' } }, 10],
    ],
    $dayOfMonth: [
      [{ $dayOfMonth: '$date' }, 19],
      [{ $dayOfMonth: { date: utc('2015-04-09T20:00'), timezone: 'Europe/London' } }, 9],
      [{ $dayOfMonth: { date: utc('2016-11-07T00:00'), timezone: 'Asia/Kolkata' } }, 7],
      [{ $dayOfMonth: { date: utc('2016-10-31T03:00'), timezone: 'America/Sao_Paulo' } }, 31],
      [{ $dayOfMonth: utc('2024-02-29T23:59:59.999') }, 29],
    ],
    $hour: [
      [{ $hour: '$jan' }, 8],
      [{ $hour: { date: '$jan', timezone: 'America/New_York' } }, 3],
      [{ $hour: { date: '$jan', timezone: '+0530' } }, 13],
      [{ $hour: { date: '$jan', timezone: '-03' } }, 5],
    ],
    $minute: [
      [{ $minute: '$jan' }, 9],
      [{ $minute: { date: '$jan', timezone: 'Asia/Kathmandu' } }, 54],
      [{ $minute: { date: '$jan', timezone: '+05:45' } }, 54],
    ],
    $second: [
      [{ $second: '$jan' }, 5],
      [{ $second: new Date(-1) }, 59],
    ],
    $millisecond: [
      [{ $millisecond: '$jan' }, 123],
      [{ $millisecond: new Date(-1) }, 999],
    ],
    $dayOfYear: [
      [{ $dayOfYear: '$date' }, 170],
      [{ $dayOfYear: utc('2016-12-31T00:00') }, 366],
      [{ $dayOfYear: utc('2015-12-31T00:00') }, 365],
    ],
    $dayOfWeek: [
      [{ $dayOfWeek: '$date' }, 2],
      [{ $dayOfWeek: '$jan' }, 7],
      [{ $dayOfWeek: utc('1969-12-28T00:00') }, 1],
      [{ $dayOfWeek: { date: utc('2016-01-01T00:00'), timezone: '-1100' } }, 5],
    ],
    $week: [
      [{ $week: '$jan' }, 0],
      [{ $week: utc('2016-01-03T00:00') }, 1],
      [{ $week: utc('2016-12-31T00:00') }, 52],
      [{ $week: utc('2023-01-01T00:00') }, 1],
    ],
    $isoDayOfWeek: [
      [{ $isoDayOfWeek: '$date' }, 1],
      [{ $isoDayOfWeek: '$jan' }, 6],
      [{ $isoDayOfWeek: utc('2016-01-03T00:00') }, 7],
    ],
    $isoWeek: [
      [{ $isoWeek: '$jan' }, 53],
      [{ $isoWeek: utc('2016-01-04T00:00') }, 1],
      [{ $isoWeek: utc('2020-12-31T00:00') }, 53],
      [{ $isoWeek: utc('2018-12-31T00:00') }, 1],
      [{ $isoWeek: { date: utc('2015-11-02T00:00'), timezone: 'America/Chicago' } }, 44],
    ],
    $isoWeekYear: [
      [{ $isoWeekYear: '$jan' }, 2015],
      [{ $isoWeekYear: utc('2018-12-31T00:00') }, 2019],
    ],
    $dateToParts: [
      [
        { $dateToParts: { date: '$date' } },
        { year: 2017, month: 6, day: 19, hour: 15, minute: 8, second: 51, millisecond: 321 },
      ],
      [
        { $dateToParts: { date: '$date', timezone: '$zone' } },
        { year: 2017, month: 6, day: 19, hour: 11, minute: 8, second: 51, millisecond: 321 },
      ],
      [
        { $dateToParts: { date: '$date', iso8601: true } },
        {
          ...{ isoWeekYear: 2017, isoWeek: 25, isoDayOfWeek: 1 },
          ...{ hour: 15, minute: 8, second: 51, millisecond: 321 },
        },
      ],
      [{ $dateToParts: { date: '$none' } }, null],
      [{ $dateToParts: { date: '$date', iso8601: 1 } }, REFUSED],
    ],
    $dateFromParts: [
      [{ $dateFromParts: { year: 2017, month: 2, day: 8, hour: 12 } }, utc('2017-02-08T12:00')],
      [
        { $dateFromParts: { isoWeekYear: 2017, isoWeek: 6, isoDayOfWeek: 3, hour: 12 } },
        utc('2017-02-08T12:00'),
      ],
      [
        {
          $dateFromParts: {
            ...{ year: 2016, month: 12, day: 31, hour: 23, minute: 46, second: 12 },
            timezone: 'America/New_York',
          },
        },
        utc('2017-01-01T04:46:12'),
      ],
      [{ $dateFromParts: { year: 2017, month: 14, day: 1, hour: 12 } }, utc('2018-02-01T12:00')],
      [{ $dateFromParts: { year: 2017, month: 0, day: 1, hour: 12 } }, utc('2016-12-01T12:00')],
      [{ $dateFromParts: { year: 2017, month: 1, day: 0 } }, utc('2016-12-31T00:00')],
      [{ $dateFromParts: { year: 2017, hour: 25, minute: -1 } }, utc('2017-01-02T00:59')],
      [{ $dateFromParts: { year: 99 } }, utc('0099-01-01T00:00')],
      [{ $dateFromParts: { year: '$none', month: 1 } }, null],
      [{ $dateFromParts: { year: 2017, month: '$missing' } }, null],
      [{ $dateFromParts: { year: 0 } }, REFUSED],
      [{ $dateFromParts: { year: 2017, month: 1.5 } }, REFUSED],
      [{ $dateFromParts: { month: 1 } }, REFUSED],
      [{ $dateFromParts: { year: 2017, isoWeek: 6 } }, REFUSED],
    ],
    $dateToString: [
      [{ $dateToString: { format: '%Y-%m-%d', date: '$date' } }, '2017-06-19'],
      [{ $dateToString: { format: '%H:%M:%S:%L%z', date: '$date' } }, '15:08:51:321+0000'],
      [
        { $dateToString: { format: '%H:%M:%S:%L%z', date: '$date', timezone: '$zone' } },
        '11:08:51:321-0400',
      ],
      [
        { $dateToString: { format: '%H:%M:%S:%L%z', date: '$date', timezone: '+04:30' } },
        '19:38:51:321+0430',
      ],
      [{ $dateToString: { format: '%Z', date: '$date', timezone: '$zone' } }, '-240'],
      [{ $dateToString: { format: '%Z', date: '$date', timezone: '+04:30' } }, '+270'],
      [{ $dateToString: { format: '%j %w %U', date: '$date' } }, '170 2 25'],
      [{ $dateToString: { format: '%G-W%V-%u', date: '$jan' } }, '2015-W53-6'],
      [{ $dateToString: { format: '%b %B %%', date: '$date' } }, 'Jun June %'],
      [{ $dateToString: { date: '$date' } }, '2017-06-19T15:08:51.321Z'],
      [{ $dateToString: { date: '$date', timezone: '$zone' } }, '2017-06-19T11:08:51.321'],
      [{ $dateToString: { date: '$none', onNull: 'none' } }, 'none'],
      [{ $dateToString: { date: '$none' } }, null],
      [{ $dateToString: { date: '$date', format: '$none' } }, null],
      [{ $dateToString: { date: '$date', format: '%Q' } }, REFUSED],
      [{ $dateToString: { date: '$date', format: 5 } }, REFUSED],
      [{ $dateToString: { date: '$date', format: '%' } }, REFUSED],
    ],
    $dateFromString: [
      [{ $dateFromString: { dateString: '$text' } }, utc('2017-02-08T12:10:40.787')],
      [
        { $dateFromString: { dateString: '$text', timezone: 'America/New_York' } },
        utc('2017-02-08T17:10:40.787'),
      ],
      [{ $dateFromString: { dateString: '2017-02-08' } }, utc('2017-02-08T00:00')],
      [
        { $dateFromString: { dateString: '06-15-2018', format: '%m-%d-%Y' } },
        utc('2018-06-15T00:00'),
      ],
      [
        { $dateFromString: { dateString: '15-06-2018', format: '%d-%m-%Y' } },
        utc('2018-06-15T00:00'),
      ],
      [
        {
          $dateFromString: {
            dateString: '2018-06-15 11:35:50+0200',
            format: '%Y-%m-%d %H:%M:%S%z',
          },
        },
        utc('2018-06-15T09:35:50'),
      ],
      [
        { $dateFromString: { dateString: '2017-02-08T12:10:40.787+0400' } },
        utc('2017-02-08T08:10:40.787'),
      ],
      [{ $dateFromString: { dateString: '2017-02-08T12:10Z' } }, utc('2017-02-08T12:10')],
      [
        { $dateFromString: { dateString: '2017-02-08 12:10 America/New_York' } },
        utc('2017-02-08T17:10'),
      ],
      [
        { $dateFromString: { dateString: '2020-W53-5', format: '%G-W%V-%u' } },
        utc('2021-01-01T00:00'),
      ],
      [{ $dateFromString: { dateString: '2016.366', format: '%Y.%j' } }, utc('2016-12-31T00:00')],
      [
        { $dateFromString: { dateString: '4 July 2017, 100%', format: '%d %B %Y, 100%%' } },
        utc('2017-07-04T00:00'),
      ],
      [{ $dateFromString: { dateString: 'Sep 4 17', format: '%b %d %Y' } }, REFUSED],
      [
        { $dateFromString: { dateString: 'May 4 2017', format: '%b %d %Y' } },
        utc('2017-05-04T00:00'),
      ],
      [
        { $dateFromString: { dateString: '2017-02-08 +285', format: '%Y-%m-%d %Z' } },
        utc('2017-02-07T19:15'),
      ],
      [{ $dateFromString: { dateString: '$none' } }, null],
      [{ $dateFromString: { dateString: '$none', onNull: utc('1970-01-01T00:00') } }, new Date(0)],
      [{ $dateFromString: { dateString: 'x', onError: '$text' } }, doc.text],
      [{ $dateFromString: { dateString: 5, onError: null } }, null],
      [{ $dateFromString: { dateString: '2017-02-30' } }, REFUSED],
      [{ $dateFromString: { dateString: '2017-13-01' } }, REFUSED],
      [{ $dateFromString: { dateString: '12:30' } }, REFUSED],
      [{ $dateFromString: { dateString: '2017-02-08Z', timezone: 'UTC' } }, REFUSED],
      [{ $dateFromString: { dateString: '2017', format: '%Y' } }, REFUSED],
      [{ $dateFromString: { dateString: '2017-02-08', format: '%Y-%m' } }, REFUSED],
      [{ $dateFromString: { dateString: '2017-02-08', format: '%U' } }, REFUSED],
    ],
    $dateAdd: [
      [add('2020-10-31T12:10:05', 'month', 1), utc('2020-11-30T12:10:05')],
      [add('2020-10-31T00:00', 'month', 4), utc('2021-02-28T00:00')],
      [add('2024-02-29T00:00', 'year', 1), utc('2025-02-28T00:00')],
      [add('2020-11-30T12:10:05', 'day', 3), utc('2020-12-03T12:10:05')],
      [add('2020-11-30T00:00', 'week', 2), utc('2020-12-14T00:00')],
      [add('2020-11-30T00:00', 'quarter', 1), utc('2021-02-28T00:00')],
      [add('2020-11-30T00:00', 'hour', -1), utc('2020-11-29T23:00')],
      [add('2020-11-30T00:00', 'minute', 90), utc('2020-11-30T01:30')],
      [add('2020-11-30T00:00', 'second', 1), utc('2020-11-30T00:00:01')],
      [add('2020-11-30T00:00', 'millisecond', 2n ** 3n), REFUSED],
      // Paris leaves summer time on 2021-10-31: a day has 25 hours, 24 hours are less than one.
      [add('2021-10-30T10:00', 'day', 1, { timezone: 'Europe/Paris' }), utc('2021-10-31T11:00')],
      [add('2021-10-30T10:00', 'hour', 24, { timezone: 'Europe/Paris' }), utc('2021-10-31T10:00')],
      // New York skips 02:30 on 2021-03-14.
      [add('2021-03-13T07:30', 'day', 1, { timezone: '$zone' }), utc('2021-03-14T07:30')],
      [add('2020-11-30T00:00', 'day', '$none'), null],
      [add('2020-11-30T00:00', '$none' as string, 1), null],
      [add('2020-11-30T00:00', 'day', 1.5), REFUSED],
      [add('2020-11-30T00:00', 'days', 1), REFUSED],
      [add('2020-11-30T00:00', 'year', 1e6), REFUSED],
      [{ $dateAdd: { startDate: '$text', unit: 'day', amount: 1 } }, REFUSED],
      [{ $dateAdd: { startDate: '$none', unit: 'day', amount: 1 } }, null],
    ],
    $dateSubtract: [
      [
        { $dateSubtract: { startDate: utc('2021-03-31T00:00'), unit: 'month', amount: 1 } },
        utc('2021-02-28T00:00'),
      ],
      [
        { $dateSubtract: { startDate: utc('2020-10-31T00:00'), unit: 'day', amount: -1 } },
        utc('2020-11-01T00:00'),
      ],
    ],
    $dateDiff: [
      [diff('2020-11-30T00:00', '2020-12-04T12:00', 'day'), 4],
      [diff('2020-12-31T23:59', '2021-01-01T00:00', 'year'), 1],
      [diff('2020-01-01T00:00', '2020-12-31T23:59', 'year'), 0],
      [diff('2020-12-31T23:59', '2021-01-01T00:00', 'quarter'), 1],
      [diff('2020-12-31T23:59', '2021-03-01T00:00', 'month'), 3],
      [diff('2021-03-01T00:00', '2020-12-31T23:59', 'month'), -3],
      [diff('2021-01-02T00:00', '2021-01-03T00:00', 'week'), 1],
      [diff('2021-01-02T00:00', '2021-01-03T00:00', 'week', { startOfWeek: 'monday' }), 0],
      [diff('2021-01-02T00:00', '2021-01-04T00:00', 'week', { startOfWeek: 'MON' }), 1],
      [diff('2021-01-15T00:00', '2021-01-22T00:00', 'week', { startOfWeek: 'fri' }), 1],
      [diff('2021-01-01T10:59', '2021-01-01T11:00', 'hour'), 1],
      [diff('2021-01-01T10:00', '2021-01-01T10:59', 'hour'), 0],
      [diff('2021-01-01T10:29', '2021-01-01T10:30', 'hour', { timezone: '+05:30' }), 1],
      [diff('2021-01-01T10:00', '2021-01-01T10:02:59', 'minute'), 2],
      [diff('2021-01-01T10:00', '2021-01-01T10:02:59', 'second'), 179],
      [diff('2021-01-01T10:00', '2021-01-01T10:00:01.5', 'millisecond'), 1500],
      [diff('2021-01-01T03:00', '2021-01-01T06:00', 'day', { timezone: '$zone' }), 1],
      // A day of 23 hours.
      [diff('2021-03-14T05:00', '2021-03-15T04:00', 'hour', { timezone: '$zone' }), 23],
      [diff('2021-01-01T03:00', '2021-01-01T06:00', 'week', { startOfWeek: 'x' }), REFUSED],
      [{ $dateDiff: { startDate: '$date', endDate: '$none', unit: 'day' } }, null],
      [{ $dateDiff: { startDate: '$date', endDate: '$text', unit: 'day' } }, REFUSED],
    ],
    $dateTrunc: [
      [trunc('2021-03-20T11:30:05', 'day'), utc('2021-03-20T00:00')],
      [trunc('2021-03-20T11:30:05', 'month'), utc('2021-03-01T00:00')],
      [trunc('2021-05-20T11:30:05', 'quarter'), utc('2021-04-01T00:00')],
      [trunc('2021-03-20T11:30:05', 'year', { binSize: 5 }), utc('2020-01-01T00:00')],
      [trunc('1999-03-20T11:30:05', 'year', { binSize: 5 }), utc('1995-01-01T00:00')],
      [trunc('2021-03-20T11:30:05', 'week'), utc('2021-03-14T00:00')],
      [
        trunc('2021-03-20T11:30:05', 'week', {
          ...{ binSize: 2, timezone: 'America/Los_Angeles', startOfWeek: 'Monday' },
        }),
        utc('2021-03-15T07:00'),
      ],
      [trunc('2021-03-20T11:30:05', 'hour', { binSize: 2 }), utc('2021-03-20T10:00')],
      [trunc('2021-03-20T11:30:05', 'hour', { timezone: '+05:30' }), utc('2021-03-20T11:30')],
      [trunc('2021-03-20T11:37:05', 'minute', { binSize: 15 }), utc('2021-03-20T11:30')],
      [trunc('2021-03-20T11:30:05.7', 'second'), utc('2021-03-20T11:30:05')],
      [
        trunc('2021-03-20T11:30:05.77', 'millisecond', { binSize: 50 }),
        utc('2021-03-20T11:30:05.75'),
      ],
      [trunc('2021-03-20T11:30:05', 'month', { binSize: 6 }), utc('2021-01-01T00:00')],
      [trunc('2021-03-15T02:00', 'month', { timezone: '$zone' }), utc('2021-03-01T05:00')],
      [trunc('2021-11-15T02:00', 'month', { timezone: '$zone' }), utc('2021-11-01T04:00')],
      [trunc('2021-03-14T12:00', 'day', { timezone: '$zone' }), utc('2021-03-14T05:00')],
      [trunc('1969-12-31T23:59', 'day'), utc('1969-12-31T00:00')],
      // Midnight is skipped where summer time begins with the day.
      [
        trunc('2017-10-15T12:00', 'day', { timezone: 'America/Sao_Paulo' }),
        utc('2017-10-15T03:00'),
      ],
      [{ $dateTrunc: { date: '$order', unit: 'day', binSize: '$none' } }, null],
      [{ $dateTrunc: { date: '$missing', unit: 'day' } }, null],
      [{ $dateTrunc: { date: '$order', unit: 'day', binSize: 0 } }, REFUSED],
      [{ $dateTrunc: { date: '$order', unit: 'fortnight' } }, REFUSED],
      [{ $dateTrunc: { date: 5, unit: 'day' } }, REFUSED],
      [{ $dateTrunc: { date: '$order', unit: 'day', timezone: 'Nowhere/Else' } }, REFUSED],
    ],
    $toDate: [
      [{ $toDate: 120_000_000_000.5 }, new Date(120_000_000_000)],
      [{ $toDate: 1_100_000_000_000n }, new Date(1_100_000_000_000)],
      [{ $toDate: '2018-03-20' }, utc('2018-03-20T00:00')],
      [{ $toDate: '2018-03-20 11:00:06 +0500' }, utc('2018-03-20T06:00:06')],
      [{ $toDate: 'Friday' }, REFUSED],
      [{ $toDate: true }, REFUSED],
      [{ $toDate: '$none' }, null],
    ],
  },
};
