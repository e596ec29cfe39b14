import { describe, expect, test } from 'vitest';
import type { IndexOption, SearchHit } from '../../src/index.ts';
import type { ClientFixture } from './client-fixture.ts';
import { LiveLog } from './live-log.ts';
import { rejection, thrown } from './outcomes.ts';

interface Article {
  title?: unknown;
  body?: unknown;
  tags?: unknown;
  year?: number;
}

const INDEXES: IndexOption[] = [{ text: { title: 3, body: 1, tags: 2 } }, 'year'];

const ARTICLES = [
  { _id: 'a', title: 'Heavy water', body: 'Water with heavy hydrogen.', tags: ['D2O'], year: 1932 },
  { _id: 'b', title: 'Hydrogen', body: 'The lightest atom: not heavy, as in water.', year: 1766 },
  { _id: 'c', title: 'Crème brûlée', body: 'Sugar, cream, heat.', tags: ['dessert'], year: 1691 },
  { _id: 'd', title: 7, body: { text: 'water' }, tags: ['heavy', 3, ['water']], year: 2000 },
  { _id: 'e', title: '東京都に住んでいる人々', body: 'ฉันชอบกินข้าวผัด', year: 2001 },
];

const ids = (hits: readonly SearchHit<{ readonly _id: string }>[]) =>
  hits.map(({ document }) => document._id);

/** search(), suggest(), liveSearch(). */
export function searchSuite(fixture: ClientFixture): void {
  const filled = async () => {
    const articles = fixture.documents<Article>({ indexes: INDEXES });
    await articles.insertMany(ARTICLES);
    return articles;
  };

  describe('search', () => {
    test('finds documents with all words, best first, by weights', async () => {
      const articles = await filled();
      expect(ids(await articles.search('heavy water'))).toEqual(['a', 'd', 'b']);
      expect(ids(await articles.search('hydrogen'))).toEqual(['b', 'a']);
      expect(ids(await articles.search('lightest cream'))).toEqual([]);
      expect(ids(await articles.search('lightest cream', { mode: 'any' }))).toEqual(['c', 'b']);
      expect(await articles.search('')).toEqual([]);
      expect(await articles.search('-water')).toEqual([]);
    });

    test('takes phrases, exclusions, beginnings, accents, and scripts without spaces', async () => {
      const articles = await filled();
      expect(ids(await articles.search('"heavy water"'))).toEqual(['a']);
      expect(ids(await articles.search('water -"heavy water"'))).toEqual(['d', 'b']);
      expect(ids(await articles.search('water -hydrogen'))).toEqual(['d']);
      expect(ids(await articles.search('CREME bru'))).toEqual(['c']);
      expect(ids(await articles.search('bru creme'))).toEqual([]);
      expect(ids(await articles.search('bru', { prefix: false }))).toEqual([]);
      expect(ids(await articles.search('東京'))).toEqual(['e']);
      expect(ids(await articles.search('ข้าวผัด'))).toEqual(['e']);
      expect(ids(await articles.search('"heavy wat'))).toEqual(['a', 'd', 'b']);
    });

    test('forgives errors with fuzzy', async () => {
      const articles = await filled();
      const found = async (text: string) => ids(await articles.search(text, { fuzzy: true }));
      expect(await found('hydrgen')).toEqual(['b', 'a']);
      expect(await found('haevy watre')).toEqual(['a', 'd', 'b']);
      expect(await found('d20')).toEqual([]);
      expect(ids(await articles.search('hydrgen'))).toEqual([]);
      // What is in quotes is meant.
      expect(await found('"haevy"')).toEqual([]);
      expect(await found('"heavy"')).toEqual(['a', 'd', 'b']);
    });

    test('narrows by criteria, and selects', async () => {
      const articles = await filled();
      const criteria = { year: { $gte: 1900 } };
      expect(ids(await articles.search('heavy', { criteria }))).toEqual(['a', 'd']);
      const [hit] = await articles.search('heavy', { criteria, select: ['year'] });
      expect(hit?.document).toEqual({ _id: 'a', year: 1932 });
      const archived = await articles.archive('a');
      expect(archived).toBe(true);
      expect(ids(await articles.search('heavy', { criteria }))).toEqual(['d']);
      expect(ids(await articles.search('heavy', { criteria, archived: 'only' }))).toEqual(['a']);
      const explained = await articles.explainSearch('heavy -atom', { criteria });
      expect(explained).toMatchObject({
        words: [
          { word: 'heavy', use: 'word', variants: 1, entries: 4 },
          { word: 'atom', use: 'excluded', variants: 1, entries: 1 },
        ],
        ...{ criteria: 'documents', candidates: 2, returned: 1, truncated: false },
        postings: { documents: 5 },
      });
    });

    test('marks words where they are', async () => {
      const articles = await filled();
      const [hit] = await articles.search('crem brul', { highlight: true, fuzzy: true });
      expect(hit?.matches).toEqual({
        title: [
          [0, 5],
          [6, 12],
        ],
        body: [[7, 12]],
      });
      const [other] = await articles.search('D2O', { highlight: true });
      expect(other?.matches).toEqual({ 'tags.0': [[0, 3]] });
    });

    test('gives pages', async () => {
      const articles = fixture.documents<Article>({ indexes: INDEXES });
      await articles.insertMany(
        Array.from({ length: 50 }, (_, n) => ({
          title: 'word '.repeat(1 + (n % 7)),
          body: `n${n % 3}`,
        })),
      );
      const all = await articles.search('wor', { limit: 50 });
      expect(all).toHaveLength(50);
      const paged: SearchHit<{ readonly _id: string }>[] = [];
      for (let page = await articles.search('wor', { limit: 7 }); page.length > 0; ) {
        paged.push(...page);
        page = await articles.search('wor', { limit: 7, after: page.at(-1) });
      }
      expect(ids(paged)).toEqual(ids(all));
    });

    test('follows every change', async () => {
      const articles = await filled();
      await articles.patch('c', { title: 'Heavy cream' });
      await articles.delete('a');
      await articles.update('d', { title: 'nothing' });
      await articles.upsert({ _id: 'f', title: 'Heavy heavy' });
      expect(ids(await articles.search('heavy'))).toEqual(['f', 'c', 'b']);
      await articles.patch('f', { year: 5 });
      const [hit] = await articles.search('heavy');
      expect(hit?.document).toEqual(await articles.get('f'));
    });

    test('persists, and is built where it is declared later', async () => {
      const plain = fixture.documents<Article>();
      await plain.insertMany(ARTICLES);
      const articles = fixture.documents<Article>({ indexes: INDEXES });
      const found = await articles.search('heavy hydrog');
      expect(ids(found)).toEqual(['a', 'b']);
      await fixture.reopen();
      const again = fixture.documents<Article>({ indexes: INDEXES });
      expect(await again.search('heavy hydrog')).toEqual(found);
      const other = fixture.documents<Article>({
        indexes: [{ text: ['body'], stop_words: ['the'], stemmer: 'english' }],
      });
      expect(ids(await other.search('atoms the'))).toEqual(['b']);
    });

    test('knows synonyms, stop words and endings', async () => {
      const articles = fixture.documents<Article>({
        indexes: [
          {
            text: 'title',
            synonyms: [['car', 'automobile']],
            stop_words: ['The', 'a'],
            stemmer: 'english',
          },
        ],
      });
      await articles.insertMany([
        { _id: 'a', title: 'The automobiles' },
        { _id: 'b', title: 'A car running' },
        { _id: 'c', title: 'the' },
      ]);
      expect(ids(await articles.search('cars')).toSorted()).toEqual(['a', 'b']);
      expect(ids(await articles.search('the run'))).toEqual(['b']);
      expect(await articles.search('the')).toEqual([]);
    });

    test('finds a word with endings at each letter of it', async () => {
      const index = { text: 'title', stemmer: 'english' } as const;
      const articles = fixture.documents<Article>({ indexes: [index] });
      const words = ['cooking', 'running', 'studied', 'computation', 'happiness', 'encryption'];
      await articles.insertMany(words.map((word) => ({ _id: word, title: word })));
      for (const word of words)
        for (let length = 3; length <= word.length; length++)
          expect(ids(await articles.search(word.slice(0, length)))).toEqual([word]);
      const [hit] = await articles.search('cooki', { highlight: true });
      expect(hit?.matches).toEqual({ title: [[0, 7]] });
      expect(ids(await articles.search('cooki', { prefix: false }))).toEqual([]);
    });

    test('reads a backup', async () => {
      const articles = await filled();
      const backup = await articles.createBackup();
      await articles.deleteMany({});
      expect(await articles.search('heavy')).toEqual([]);
      const view = articles.at(backup);
      expect(ids(await view.search('heavy water'))).toEqual(['a', 'd', 'b']);
      await view.close();
      await articles.loadBackup(backup);
      expect(ids(await articles.search('heavy water'))).toEqual(['a', 'd', 'b']);
    });
  });

  describe('suggest', () => {
    test('completes the last word', async () => {
      const articles = await filled();
      expect(await articles.suggest('h')).toEqual([
        { text: 'heavy', documents: 3 },
        { text: 'hydrogen', documents: 2 },
        { text: 'heat', documents: 1 },
      ]);
      expect(await articles.suggest('Heavy h', { limit: 1 })).toEqual([
        { text: 'heavy hydrogen', documents: 2 },
      ]);
      expect(await articles.suggest('')).toEqual([]);
    });
  });

  describe('liveSearch', () => {
    test('emits when documents or their order change', async () => {
      const articles = await filled();
      const live = articles.liveSearch('heavy');
      const log = new LiveLog(live);
      const found = await log.until((hits) => hits.length > 0);
      expect(ids(found)).toEqual(['a', 'd', 'b']);
      expect(Object.isFrozen(found[0])).toBe(true);
      // Scores change, and nothing else.
      await articles.insert({ title: 'nothing of it' });
      await articles.insert({ _id: 'z', title: 'Heavy' });
      const more = await log.until((hits) => hits.length === 4);
      expect(ids(more)).toEqual(ids(await articles.search('heavy')));
      await articles.delete('a');
      await log.until((hits) => hits.length === 3);
      log.stop();
      expect(log.snapshots.filter(({ status }) => status === 'ready')).toHaveLength(3);
    });

    test('says what is wrong', async () => {
      const articles = fixture.documents<Article>();
      const log = new LiveLog(articles.liveSearch('heavy'));
      expect(await log.error()).toMatchObject({ code: 'option_missing' });
    });
  });

  describe('a search refuses', () => {
    test('collections without a text index', async () => {
      const articles = fixture.documents<Article>({ indexes: ['year'] });
      const error = await rejection(articles.search('heavy'));
      expect([error.code, error.place]).toEqual(['option_missing', 'indexes']);
    });

    test.each([
      ['a text of 10,000 words', 'a '.repeat(10_000), {}, 'text'],
      ['no text', 7, {}, 'text'],
      ['a limit of 0', 'a', { limit: 0 }, 'limit'],
      ['a high limit', 'a', { limit: 1001 }, 'limit'],
      ['another mode', 'a', { mode: 'none' }, 'mode'],
      ['an unknown option', 'a', { fuzy: true }, 'fuzy'],
      ['a page behind nothing', 'a', { after: {} }, 'after'],
      ['a function', 'a', { criteria: () => true }, 'criteria'],
    ])('%s', async (_title, text, options, place) => {
      const articles = await filled();
      const error = await rejection(articles.search(text as string, options as object));
      expect([error.name, error.place]).toEqual(['OptionError', place]);
    });

    test('criteria with an unknown operator, and a transaction', async () => {
      const articles = await filled();
      const criteria = { year: { $near: 1 } } as never;
      expect((await rejection(articles.search('heavy', { criteria }))).code).toBe(
        'operator_unknown',
      );
      const moved = fixture.db.transaction((tx) => tx(articles).search('heavy'));
      expect((await rejection(moved)).code).toBe('transaction_misused');
    });

    test.each([
      ['no path', []],
      ['an empty path', ['']],
      ['the _id', ['_id']],
      ['a path twice', ['a', 'a']],
      ['17 paths', Array.from({ length: 17 }, (_, n) => `p${n}`)],
      ['a weight of 0', { a: 0 }],
      ['a negative weight', { a: -1 }],
      ['a weight that is no number', { a: Number.NaN }],
      ['an infinite weight', { a: Number.POSITIVE_INFINITY }],
      ['a weight as text', { a: '1' }],
    ])('an index with %s', (_title, text) => {
      const indexes = [{ text }] as never;
      const error = thrown(() => fixture.documents({ indexes }));
      expect([error.code, error.place]).toEqual(['option_invalid', 'indexes[0].text']);
    });

    test('a second text index, and unknown options', () => {
      const two = thrown(() => fixture.documents({ indexes: [{ text: 'a' }, { text: 'b' }] }));
      expect([two.code, two.place]).toEqual(['option_conflict', 'indexes[1]']);
      const odd = thrown(() =>
        fixture.documents({ indexes: [{ text: 'a', unique: true }] as never }),
      );
      expect([odd.code, odd.place]).toEqual(['option_unknown', 'unique']);
    });
  });

  test('odd texts are stored and searched within bounds', async () => {
    const articles = fixture.documents<Article>({ indexes: [{ text: ['title'] }] });
    await articles.insert({ _id: 'lone', title: 'a\ud800b \udc00 word' });
    await articles.insert({ _id: 'long', title: 'x'.repeat(2_000_000) });
    await articles.insert({ _id: 'many', title: `${'w1 '.repeat(19_999)}kept cut` });
    await articles.insert({ _id: 'deep', title: [['nested word'], { title: 'word' }, null] });
    expect(ids(await articles.search('word')).toSorted()).toEqual(['deep', 'lone']);
    expect(ids(await articles.search('\ud800'))).toEqual([]);
    expect(ids(await articles.search('kept'))).toEqual(['many']);
    expect(ids(await articles.search('cut'))).toEqual([]);
    expect(ids(await articles.search('x'.repeat(64)))).toEqual(['long']);
  });
}
