import { expect, test } from 'vitest';
import { Database, memoryDriver } from '../../src/index.ts';
import { BestFirst, matchTexts, type TextMatches } from '../../src/query/text/text-matches.ts';
import { TextRuns } from '../../src/query/text/text-runs.ts';
import { matched } from './matched.ts';

function open(text: string | readonly string[]) {
  const db = new Database({ name: `bounds ${Math.random()}`, storage: memoryDriver() });
  const notes = new db.Collection<{ text: unknown }>({
    ...{ name: 'notes', type: 'DOCUMENT_BASED' },
    indexes: [{ text: typeof text === 'string' ? text : [...text] }],
  });
  const ids = async (typed: string) =>
    (await notes.search(typed)).map(({ document }) => document._id).sort();
  return { db, notes, ids };
}

/** Postings of a million documents, if not given. */
function manyTexts(textOf: (n: number) => string, length = 1_000_000) {
  const keys = Array.from({ length }, (_, n) => textOf(n));
  const runs = new TextRuns<{ rank: number }>(1);
  const entries = keys.map((_, rank) => ({ rank }));
  runs.load(entries, Float64Array.from(keys.keys()), keys);
  for (const _slice of runs.building()) expect(_slice).toBeUndefined();
  const settings = { runs, weights: [1], synonyms: new Map() };
  const find = (typed: string, fuzzy = false): TextMatches<{ rank: number }> =>
    matched(
      settings,
      typed.split(' ').map((word) => ({ words: [word], use: 'word', isPrefix: !fuzzy })),
      { mode: 'all', fuzzy },
    );
  return { runs, find, settings };
}

function countSlices<T>(slices: Generator<void, T>): { count: number; value: T } {
  let count = 0;
  let step = slices.next();
  for (; !step.done; step = slices.next()) count++;
  return { count, value: step.value };
}

test('one letter looks at two million entries of a million documents, and says so', () => {
  const { runs, find } = manyTexts((n) => `a${n % 400} a${n % 401} b${n % 9}`);
  expect(find('a').terms[0]?.entries).toBe(2_000_000);
  expect(find('a3').terms[0]?.entries).toBeLessThan(2_000_000);
  // More words that begin so than entries that are looked at.
  runs.add({ rank: 1_000_000 }, 'a9999');
  const { terms, truncated } = find('a');
  expect(terms[0]?.entries).toBeLessThanOrEqual(2_000_000);
  expect(truncated).toBe(true);
});

test('one letter comes in slices, as the hits do', () => {
  const { settings } = manyTexts((n) => `a${n % 400} a${n % 401}`, 200_000);
  const terms = [{ words: ['a'], use: 'word', isPrefix: true }] as const;
  const matching = countSlices(matchTexts(settings, terms, { mode: 'all', fuzzy: false }));
  expect(matching.count).toBeGreaterThan(10);
  const { count, value } = countSlices(BestFirst.of(matching.value.scores, undefined));
  expect(count).toBeGreaterThan(6);
  expect(value.length).toBe(200_000);
});

test('words that nearly all of a million documents have find them, however many are typed', () => {
  const { find } = manyTexts((n) => `the of and ${n === 7 ? 'hydrogen' : `w${n % 9}`}`);
  const { scores, truncated } = find('the of and hydr');
  expect([scores.map(({ rows }) => [...rows]), truncated]).toEqual([[[7]], false]);
});

test('what was typed wrong leaves room for the next word', () => {
  const { find } = manyTexts(
    (n) => `abcd${n % 2} abcd${2 + (n % 3)} ${n === 7 ? 'hydrogen' : 'x'}`,
  );
  const { scores, truncated } = find('abcde hydrgen', true);
  expect([scores.map(({ rows }) => [...rows]), truncated]).toEqual([[[7]], true]);
});

test('a search of many words over many others comes in slices', () => {
  const { settings } = manyTexts((n) => `abcd${n}`, 50_000);
  const terms = Array.from({ length: 100 }, (_, n) => {
    return { words: [`abdc${n}`], use: 'word', isPrefix: false } as const;
  });
  const { count } = countSlices(matchTexts(settings, terms, { mode: 'any', fuzzy: true }));
  expect(count).toBe(200);
});

test('hits of a search that left words out say so', async () => {
  const { db, notes } = open('text');
  const many = Array.from({ length: 11 }, (_, part) =>
    Array.from({ length: 1000 }, (_, n) => `w${part * 1000 + n}`).join(' '),
  );
  await notes.insertMany(many.map((text) => ({ text })));
  const [hit] = await notes.search('w');
  expect(hit?.truncated).toBe(true);
  expect(await notes.explainSearch('w')).toMatchObject({ truncated: true });
  const [near] = await notes.search('w10999');
  expect(near).not.toHaveProperty('truncated');
  await db.close();
});

test('of a text of 50 MB the beginning counts', async () => {
  const { db, notes, ids } = open('text');
  const text = `first ${'filler '.repeat(7_500_000)} last`;
  await notes.insert({ _id: 'ascii', text });
  await notes.insert({ _id: 'wide', text: `${text} é` });
  expect(await ids('first')).toEqual(['ascii', 'wide']);
  expect(await ids('last')).toEqual([]);
  const [hit] = await notes.search('first', { highlight: true });
  expect(hit?.matches).toEqual({ text: [[0, 5]] });
  await db.close();
});

test('numbers, objects and what else is no text are not in the index', async () => {
  const { db, notes, ids } = open('text');
  await notes.insert({ _id: 'number', text: 1932 });
  await notes.insert({ _id: 'object', text: { text: 'heavy', deep: { text: 'heavy' } } });
  await notes.insert({ _id: 'date', text: new Date(0) });
  await notes.insert({ _id: 'bytes', text: new Uint8Array([104, 101]) });
  await notes.insert({ _id: 'map', text: new Map([['text', 'heavy']]) });
  await notes.insert({ _id: 'null', text: null });
  await notes.insert({ _id: 'mixed', text: [7, 'heavy', { text: 'water' }, ['metal', [null]]] });
  for (const typed of ['1932', '1970', '104', 'water', 'text'])
    expect(await ids(typed)).toEqual([]);
  for (const typed of ['heavy', 'metal']) expect(await ids(typed)).toEqual(['mixed']);
  await notes.patch('number', { text: 'heavy' });
  await notes.patch('mixed', { text: 7 });
  expect(await ids('heavy')).toEqual(['number']);
  await db.close();
});

test('paths through what is no object find nothing', async () => {
  const { db, notes, ids } = open(['text.length', 'text.constructor.name']);
  await notes.insert({ _id: 'a', text: 'heavy' });
  await notes.insert({ _id: 'b', text: { constructor: { name: 'own' } } });
  expect(await ids('object')).toEqual([]);
  expect(await ids('own')).toEqual(['b']);
  await db.close();
});
