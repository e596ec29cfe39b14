import { expect, test } from 'vitest';
import { Database, type DocumentCollection, memoryDriver } from '../../src/index.ts';
import { nearWords } from '../../src/query/text/near-words.ts';
import { fc, runs } from '../setup/properties.ts';
import { distance, type Indexed, NaiveSearch, textsIn, wordsOf } from './naive-search.ts';

interface Note {
  title?: unknown;
  body?: unknown;
  tags?: unknown;
  n?: number;
  m?: number;
  at?: number[];
}

type Notes = DocumentCollection<Note>;

const INDEXES: readonly Indexed[] = [
  { option: { text: { title: 3, body: 1, tags: 2 } }, paths: ['body', 'tags', 'title'] },
  { option: { text: 'title' }, paths: ['title'] },
  {
    option: { text: ['body.deep', 'tags'], stop_words: ['Water', 'a', 'foo-bar'] },
    ...{ paths: ['body.deep', 'tags'], stops: ['water', 'a', 'foo', 'bar'] },
  },
  {
    option: { text: ['title', 'body'], stemmer: 'english' },
    paths: ['title', 'body'],
    stems: true,
  },
  {
    option: {
      text: ['tags', 'title'],
      synonyms: [
        ['heavy', 'fine', '東京'],
        ['atom', 'été'],
      ],
    },
    ...{
      paths: ['tags', 'title'],
      synonyms: [
        ['heavy', 'fine', '東京'],
        ['atom', 'été'],
      ],
    },
  },
];

/** Words, and what looks like one: accents apart, ligatures, joined emoji, halves, long ones. */
const WORDS = [
  ...['heavy', 'heave', 'heavier', 'water', 'waters', 'watered', 'atom', 'atoms', 'ato', 'a', 'at'],
  ...['Öl', 'oel', 'ol', 'été', 'e\u0301te\u0301', 'ETE', '½', '1', '12', 'straße', 'STRASSE'],
  ...['ﬁne', 'fine', 'İstanbul', 'istanbul', 'foo-bar', 'foo', 'bar', "l'eau", 'λόγος', 'λόγοΣ'],
  ...[
    'שלום',
    'שָׁלוֹם',
    'हिन्दी',
    '한국어',
    '한국',
    '東京都に住んでいる',
    '東京',
    '我们在北京大学学习',
    '北京',
  ],
  ...['ฉันชอบกินข้าวผัด', 'ข้าวผัด', 'ភាសាខ្មែរពិរោះ', 'カタカナ', '😀', 'a😀b', '👩‍👩‍👧', '1️⃣', '❤️'],
  ...[
    'wa\xadter',
    '\xadat\xad\xadom\xad',
    '東\xad京',
    'x\u200dy',
    '\ud83d',
    'a\udc00b',
    'a\0b',
    'constructor',
    '__proto__',
    'a'.repeat(70),
  ],
  ...[`${'a'.repeat(64)}b`, 'b\u0301\u0302', '\u0301', `e${'\u0301'.repeat(40)}x`],
];
const BETWEEN = [' ', ' ', '. ', '-', '\n', '　', ' 😀 ', ':', '"', '\t'];

const word = fc.constantFrom(...WORDS);
const text = fc
  .array(fc.tuple(word, fc.constantFrom(...BETWEEN)), { maxLength: 6 })
  .map((parts) => parts.flat().join(''));
const value = fc.oneof(
  { weight: 4, arbitrary: text },
  fc.constantFrom<unknown>(7, null, new Date(0), { other: 'heavy' }),
  text.map((deep) => ({ deep: [deep, { deep: 'heavy' }] })),
  fc.tuple(text, text).map(([one, other]) => [one, 7, { deep: other }, [other, null]]),
);
const note: fc.Arbitrary<Note> = fc.record(
  {
    ...{ title: value, body: value, tags: fc.oneof(value, fc.array(text, { maxLength: 3 })) },
    ...{ n: fc.nat(4), m: fc.nat(4), at: fc.tuple(fc.nat(9), fc.integer({ min: 1, max: 9 })) },
  },
  { requiredKeys: ['n', 'm'] },
) as never;

/** A beginning, or one with two letters exchanged. */
const typedWord = fc
  .tuple(word, fc.double({ noNaN: true, min: 0, max: 1 }), fc.nat(4))
  .map(([whole, share, kind]) => {
    const letters = [...whole];
    const at = Math.floor(share * (letters.length - 1));
    if (kind === 0) return letters.slice(0, at + 1).join('');
    if (kind > 1) return whole;
    return [...letters.slice(0, at), letters[at + 1], letters[at], ...letters.slice(at + 2)].join(
      '',
    );
  });
const typed = fc.oneof(
  { weight: 5, arbitrary: typedWord.map((one) => ({ kind: 'word' as const, text: one })) },
  fc.record({ kind: fc.constant('phrase' as const), text: word }),
  fc.record({
    kind: fc.constantFrom('phrase' as const, 'not' as const),
    text: fc.tuple(word, word).map((pair) => pair.join(' ')),
  }),
  fc.record({ kind: fc.constant('not' as const), text: word }),
);
const query = fc.record({
  terms: fc.array(typed, { minLength: 1, maxLength: 3 }),
  mode: fc.constantFrom('all' as const, 'any'),
  prefix: fc.boolean(),
  fuzzy: fc.boolean(),
  archived: fc.constantFrom(false, false, true, 'only' as const),
  criteria: fc.constantFrom({}, {}, { n: { $lte: 2 } }, { m: 3 }, { $or: [{ n: 1 }, { m: 2 }] }),
  limit: fc.integer({ min: 1, max: 7 }),
});
type Query = typeof query extends fc.Arbitrary<infer Q> ? Q : never;

const id = fc.nat(30).map((n) => `d${n}`);
const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('put' as const), id, note }) },
  fc.record({ kind: fc.constant('patch' as const), id, note }),
  fc.record({ kind: fc.constant('many' as const), notes: fc.array(note, { maxLength: 40 }) }),
  fc.record({ kind: fc.constantFrom('delete' as const, 'archive', 'unarchive'), id }),
  fc.record({ kind: fc.constantFrom('patchMany' as const, 'deleteMany'), n: fc.nat(4), note }),
  fc.record({ kind: fc.constant('save' as const) }),
  fc.record({
    ...{ kind: fc.constant('reopen' as const), saves: fc.boolean(), caching: fc.boolean() },
    at: fc.nat(INDEXES.length - 1),
  }),
);
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never;

async function change(notes: Notes, one: Exclude<Step, { kind: 'reopen' }>): Promise<void> {
  switch (one.kind) {
    case 'put':
      return void (await notes.upsert({ _id: one.id, ...one.note }));
    case 'patch':
      return void (await notes.patch(one.id, one.note));
    case 'many':
      return void (await notes.insertMany(one.notes));
    case 'patchMany':
      return void (await notes.patchMany({ n: one.n }, { title: one.note.title }));
    case 'deleteMany':
      return void (await notes.deleteMany({ n: one.n }));
    case 'save':
      return notes.save();
    default:
      return void (await notes[one.kind](one.id));
  }
}

/** All hits of a search, and the same by pages. */
async function compare(notes: Notes, asked: Query, indexed: Indexed): Promise<void> {
  const { terms, limit, ...options } = asked;
  const { archived, criteria, ...rules } = options;
  const naive = new NaiveSearch(terms, rules, indexed);
  const label = JSON.stringify([naive.text, options, indexed.option]);
  const all = await notes.filter(criteria, { archived });
  const right = all.filter((one) => naive.matches(one)).map(({ _id }) => _id);
  const find = (more: object) => notes.search(naive.text, { ...options, highlight: true, ...more });
  const hits = await find({ limit: 1000 });
  const ids = hits.map(({ document }) => document._id);
  expect([label, ids.toSorted()]).toEqual([label, right.toSorted()]);
  const scores = hits.map(({ score }) => score);
  expect([label, scores]).toEqual([label, scores.toSorted((a, b) => b - a)]);
  for (const { document, matches = {} } of hits)
    expect([label, document._id, matches]).toEqual([label, document._id, naive.placesIn(document)]);
  const paged: typeof hits = [];
  for (let page = await find({ limit }); page.length > 0; ) {
    paged.push(...page);
    page = await find({ limit, after: page.at(-1) });
  }
  expect([label, paged]).toEqual([label, hits]);
}

async function compareSuggestions(notes: Notes, typed: string, indexed: Indexed): Promise<void> {
  const [beginning, more] = wordsOf(typed, indexed);
  if (beginning === undefined || more !== undefined || indexed.synonyms) return;
  const counts = new Map<string, number>();
  for (const one of await notes.filter({}, { archived: true })) {
    const texts = [...textsIn(one, indexed).values()];
    for (const own of new Set(texts.flatMap((each) => wordsOf(each, indexed))))
      if (own.startsWith(beginning)) counts.set(own, (counts.get(own) ?? 0) + 1);
  }
  const right = [...counts]
    .sort(([a, count], [b, other]) => other - count || (a < b ? -1 : 1))
    .map(([each, documents]) => ({ text: each, documents }));
  expect([typed, await notes.suggest(typed, { limit: 1000 })]).toEqual([typed, right]);
}

/** Both results, fused by the places that documents have in them. */
async function compareHybrid(notes: Notes, typed: string): Promise<void> {
  const vector = [-1, 2];
  const found = [
    await notes.search(typed, { limit: 200 }),
    await notes.nearest(vector, { k: 200 }),
  ].map((hits) => hits.map(({ document }) => document._id));
  const scores = new Map<string, number>();
  for (const ids of found)
    for (const [at, own] of ids.entries()) scores.set(own, (scores.get(own) ?? 0) + 1 / (61 + at));
  const hits = await notes.hybrid(typed, vector, { limit: 200 });
  expect(hits.map(({ document }) => document._id).sort()).toEqual([...scores.keys()].sort());
  for (const { document, score } of hits)
    expect(score).toBeCloseTo(scores.get(document._id) as number, 9);
}

test('a search finds what a naive scan finds, after every change and a reload', async () => {
  const run = async (steps: readonly (readonly [Step, Query, Query])[]) => {
    const storage = memoryDriver();
    const open = (indexed: Indexed, caching: boolean) => {
      const db = new Database({ name: 'oracle', storage });
      const notes = new db.Collection<Note>({
        ...{ name: 'notes', type: 'DOCUMENT_BASED', caching },
        indexes: [indexed.option, 'n', { vector: 'at', dimensions: 2 }],
      });
      return { db, notes, indexed };
    };
    let now = open(INDEXES[steps.length % INDEXES.length] as Indexed, true);
    for (const [one, ...queries] of steps) {
      if (one.kind === 'reopen') {
        if (one.saves) await now.notes.save();
        await now.db.close();
        now = open(INDEXES[one.at] as Indexed, one.caching);
      } else await change(now.notes, one);
      for (const asked of queries) await compare(now.notes, asked, now.indexed);
      const [{ text: some = '' } = {}] = queries[0].terms;
      await compareSuggestions(now.notes, some.slice(0, 2), now.indexed);
      await compareHybrid(now.notes, some.replaceAll('"', ''));
    }
    await now.db.close();
  };
  const steps = fc.array(fc.tuple(step, query, query), { minLength: 3, maxLength: 25 });
  await fc.assert(fc.asyncProperty(steps, run), runs(60));
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
