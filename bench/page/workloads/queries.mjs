import { groupCount } from '../documents.mjs';
import { askOften } from '../repeat.mjs';
import { defineWorkload } from '../workload.mjs';

const RUNS = 30;
const WARM_UP = 10;
const LIMIT = 20;
/** Of 90 ages: a tenth of the documents. */
const AGES = 9;
/** Of 90,000 of them: a tenth of the documents. */
const ZIPS = 9_000;

const firstZip = (/** @type {number} */ run) => 10_000 + ((run * 1_861) % (90_000 - ZIPS));
const firstAge = (/** @type {number} */ run) => (run * 7) % (90 - AGES);

/**
 * A query repeated with different operands: warmed up and checked.
 *
 * @param {object} about
 * @param {string} about.name
 * @param {string} about.title
 * @param {'findGroup' | 'findZips' | 'findAges' | 'firstByScore' | 'countAges'} about.method
 * @param {(run: number, size: number) => any[]} about.given
 * @param {(session: import('../session.mjs').Session, given: any[]) =>
 *   import('../people.mjs').Keyed[]} about.expected
 */
const query = ({ name, title, method, given, expected }) =>
  defineWorkload({
    name,
    title,
    metrics: { ms: { what: 'until the documents have arrived', unit: 'ms', limit: 'memory' } },
    async run(session) {
      const store = await session.openFilled();
      const ask = /** @type {((...given: any[]) => unknown) | undefined} */ (store[method]);
      if (!ask) return undefined;
      for (let run = 0; run < WARM_UP; run++) {
        const asked = given(run, session.size);
        const found = await ask(...asked);
        const right = expected(session, asked);
        if (method === 'countAges') {
          if (found !== right.length) throw new Error(`${found} counted, not ${right.length}.`);
        } else session.check(name, found, right, { ordered: method === 'firstByScore' });
      }
      const ms = await askOften(RUNS, session.patience, (run) =>
        ask(...given(run + WARM_UP, session.size)),
      );
      return { ms };
    },
  });

export const equality = query({
  name: 'equality',
  title: 'Find 200 documents by an indexed field',
  method: 'findGroup',
  given: (run, size) => [run % groupCount(size)],
  expected: ({ model }, [group]) => model.select((person) => person.group === group),
});

export const range = query({
  name: 'range',
  title: 'Find a tenth by a range of an indexed field',
  method: 'findAges',
  given: (run) => [firstAge(run), firstAge(run) + AGES],
  expected: ({ model }, [from, to]) => model.select(({ age }) => age >= from && age < to),
});

export const scan = query({
  name: 'scan',
  title: 'Find a tenth by a range of a nested field, no index',
  method: 'findZips',
  given: (run) => [String(firstZip(run)), String(firstZip(run) + ZIPS)],
  expected: ({ model }, [from, to]) =>
    model.select(({ address }) => address.zip >= from && address.zip < to),
});

export const sorted = query({
  name: 'sort-limit',
  title: 'The first 20 to 60 by an indexed field',
  method: 'firstByScore',
  given: (run) => [LIMIT + run], // no query repeats, so that no query cache answers
  expected: ({ model }, [limit]) => model.firstByScore(limit),
});

export const count = query({
  name: 'count',
  title: 'Count a tenth by a range of an indexed field',
  method: 'countAges',
  given: (run) => [firstAge(run), firstAge(run) + AGES],
  expected: ({ model }, [from, to]) => model.select(({ age }) => age >= from && age < to),
});
