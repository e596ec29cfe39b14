import { groupCount } from '../documents.mjs';
import { askOften } from '../repeat.mjs';
import { defineWorkload } from '../workload.mjs';

const RUNS = 30;
const WARM_UP = 10;
const LIMIT = 20;
/** Of 90 ages: a tenth of the documents. */
const AGES = 9;
const CITIES = ['Porto', 'Lagos', 'Oslo', 'Quito', 'Hanoi', 'Turin', 'Perth', 'Kyoto', 'Lima', 'Riga'];

const city = (/** @type {number} */ run) => /** @type {string} */ (CITIES[run % CITIES.length]);
const firstAge = (/** @type {number} */ run) => (run * 7) % (90 - AGES);

/**
 * A question that is asked again and again, each time for something else: warm, and checked meanwhile.
 *
 * @param {object} about
 * @param {string} about.name
 * @param {string} about.title
 * @param {'findGroup' | 'findCity' | 'findAges' | 'firstByScore' | 'countAges'} about.method
 * @param {(run: number, size: number) => any[]} about.given
 * @param {(session: import('../session.mjs').Session, given: any[]) => import('../people.mjs').Keyed[]} about.expected
 */
const query = ({ name, title, method, given, expected }) =>
  defineWorkload({
    name,
    title,
    metrics: { ms: { what: 'until the documents are there', unit: 'ms', limit: 'memory' } },
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
  title: 'Find a tenth of the documents by a range of an indexed field',
  method: 'findAges',
  given: (run) => [firstAge(run), firstAge(run) + AGES],
  expected: ({ model }, [from, to]) => model.select(({ age }) => age >= from && age < to),
});

export const scan = query({
  name: 'scan',
  title: 'Find a tenth of the documents by a nested field without an index',
  method: 'findCity',
  given: (run) => [city(run)],
  expected: ({ model }, [wanted]) => model.select(({ address }) => address.city === wanted),
});

export const sorted = query({
  name: 'sort-limit',
  title: 'The first 20 in the order of an indexed field',
  method: 'firstByScore',
  given: (run) => [LIMIT + (run % 2)],
  expected: ({ model }, [limit]) => model.firstByScore(limit),
});

export const count = query({
  name: 'count',
  title: 'Count a tenth of the documents by a range of an indexed field',
  method: 'countAges',
  given: (run) => [firstAge(run), firstAge(run) + AGES],
  expected: ({ model }, [from, to]) => model.select(({ age }) => age >= from && age < to),
});
