import fc from 'fast-check';
import { expect, test } from 'vitest';
import { fold } from '../../src/codec/fold-text.ts';
import { Database } from '../../src/index.ts';
import { nearWords } from '../../src/query/text/near-words.ts';
import { memoryDriver } from '../../src/storage/drivers/memory-driver.ts';

interface Note {
  title?: string;
  tags?: string[];
  n: number;
}

const WORDS = ['water', 'waters', 'heavy', 'heave', 'hydrogen', 'Öl', 'oil', 'été', 'ete', 'λόγος'];
const word = fc.constantFrom(...WORDS);
const text = fc.array(word, { maxLength: 6 }).map((words) => words.join(' '));
const note = fc.record(
  { title: text, tags: fc.array(text, { maxLength: 2 }), n: fc.nat(3) },
  { requiredKeys: ['n'] },
);

const change = fc.oneof(
  fc.record({ kind: fc.constant('insert' as const), id: fc.nat(15), note }),
  fc.record({ kind: fc.constant('patch' as const), id: fc.nat(15), note }),
  fc.record({ kind: fc.constant('delete' as const), id: fc.nat(15), note }),
);

const query = fc.record({
  words: fc.array(
    word.chain((one) => fc.nat(one.length - 1).map((cut) => one.slice(0, one.length - cut))),
    { minLength: 1, maxLength: 3 },
  ),
  excluded: fc.option(word),
  phrase: fc.option(fc.tuple(word, word)),
  mode: fc.constantFrom('all' as const, 'any' as const),
  prefix: fc.boolean(),
  fuzzy: fc.boolean(),
  most: fc.option(fc.nat(3), { nil: undefined }),
});

type Query = typeof query extends fc.Arbitrary<infer Q> ? Q : never;

const textsOf = ({ title, tags = [] }: Note): string[] =>
  [...(title === undefined ? [] : [title]), ...tags].map((one) => ` ${fold(one)} `);

/** Letters wrong, missing, too many or exchanged, one by one. */
function distance(a: string, b: string): number {
  const rows = Array.from({ length: a.length + 1 }, (_, i) =>
    Array.from({ length: b.length + 1 }, (_, j) => (i === 0 ? j : j === 0 ? i : 0)),
  );
  const at = (i: number, j: number) => rows[i]?.[j] as number;
  for (let i = 1; i <= a.length; i++)
    for (let j = 1; j <= b.length; j++) {
      let least = Math.min(at(i - 1, j) + 1, at(i, j - 1) + 1);
      least = Math.min(least, at(i - 1, j - 1) + (a[i - 1] === b[j - 1] ? 0 : 1));
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        least = Math.min(least, at(i - 2, j - 2) + 1);
      (rows[i] as number[])[j] = least;
    }
  return at(a.length, b.length);
}

function matches(found: Note, { words, excluded, phrase, mode, most, ...rules }: Query): boolean {
  const texts = textsOf(found);
  const all = texts.flatMap((one) => one.trim().split(' ')).filter(Boolean);
  const has = (typed: string, isLast: boolean) => {
    const wanted = fold(typed);
    const errors = !rules.fuzzy || wanted.length < 4 ? 0 : wanted.length < 8 ? 1 : 2;
    const isPrefix = isLast && rules.prefix;
    return all.some(
      (one) => (isPrefix && one.startsWith(wanted)) || distance(wanted, one) <= errors,
    );
  };
  const test = (typed: string, at: number) => has(typed, at === words.length - 1);
  if (most !== undefined && found.n > most) return false;
  if (excluded && all.includes(fold(excluded))) return false;
  if (phrase && !texts.some((one) => one.includes(` ${fold(phrase.join(' '))} `))) return false;
  return mode === 'all' ? words.every(test) : words.some(test);
}

test('a search finds what a naive scan finds, after every change and a reload', async () => {
  const run = async (
    changes: (typeof change extends fc.Arbitrary<infer C> ? C : never)[],
    queries: Query[],
  ) => {
    const name = `search ${Math.random()}`;
    const storage = memoryDriver();
    const open = (db: Database, caching: boolean) =>
      new db.Collection<Note>({
        ...{ name: 'notes', type: 'DOCUMENT_BASED', caching },
        indexes: [{ text: { title: 2, tags: 1 } }, 'n'],
      });
    let db = new Database({ name, storage });
    let notes = open(db, true);
    const check = async () => {
      const documents = await notes.filter({});
      for (const asked of queries) {
        const { words, excluded, phrase, mode, prefix, fuzzy, most } = asked;
        const typed = [
          ...(phrase ? [`"${phrase.join(' ')}"`] : []),
          ...(excluded ? [`-${excluded}`] : []),
          ...words,
        ].join(' ');
        const criteria = most === undefined ? {} : { n: { $lte: most } };
        const hits = await notes.search(typed, { mode, prefix, fuzzy, criteria, limit: 100 });
        const expected = documents.filter((one) => matches(one, asked)).map(({ _id }) => _id);
        expect(hits.map(({ document }) => document._id).toSorted()).toEqual(expected.toSorted());
        const scores = hits.map(({ score }) => score);
        expect(scores).toEqual(scores.toSorted((a, b) => b - a));
      }
    };
    for (const { kind, id, note } of changes) {
      const _id = `d${id}`;
      if (kind === 'insert') await notes.upsert({ _id, ...note });
      else if (kind === 'patch') await notes.patch(_id, note);
      else await notes.delete(_id);
      await check();
    }
    await db.close();
    db = new Database({ name, storage });
    notes = open(db, false);
    await check();
    await db.close();
  };
  const changes = fc.array(change, { minLength: 1, maxLength: 25 });
  const queries = fc.array(query, { minLength: 1, maxLength: 4 });
  await fc.assert(fc.asyncProperty(changes, queries, run), { numRuns: 25 });
});

test('near words are those within the distance', () => {
  const letters = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), maxLength: 8 });
  fc.assert(
    fc.property(fc.uniqueArray(letters), letters, fc.nat(2), (list, typed, errors) => {
      const words = list.toSorted();
      const expected = words.filter((one) => distance(typed, one) <= errors);
      expect([...nearWords(words, typed, errors).keys()]).toEqual(expected);
    }),
    { numRuns: 1000 },
  );
});
