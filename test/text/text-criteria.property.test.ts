import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { connect, Database, type DocumentCollection } from '../../src/index.ts';
import { contains, fold, searchWords, startsWith, words } from '../../src/text/index.ts';
import { fakeWorker } from '../contract/fake-worker.ts';
import { fc, runs } from '../setup/properties.ts';

interface Note {
  text: string;
  folded: string;
  words: string[];
}

/**
 * Few letters, so that much is found; all signs that mean something in a pattern, line ends among
 * them.
 */
const typed = fc.string({
  unit: fc.constantFrom(...'aabAé \\^$.*+?()[]{}|/-,\n\r\u2028#&<'),
  maxLength: 4,
});
const stored = fc.array(
  fc.string({ unit: fc.constantFrom(...'aabAé .*|\n\u2028(+\\'), maxLength: 6 }),
  { maxLength: 12 },
);

const db = new Database({ name: 'text', storage: 'memory' });
let notes: DocumentCollection<Note>;

beforeAll(async () => {
  notes = new db.Collection<Note>({
    name: 'notes',
    type: 'DOCUMENT_BASED',
    caching: true,
    indexes: ['text', 'folded', { fields: 'words', multi: true }],
  });
  await notes.ready;
});
afterAll(() => db.close());

/** Fills the collection. */
function store(texts: readonly string[]) {
  notes.sync.deleteMany({});
  notes.sync.insertMany(
    texts.map((text) => ({ text, folded: fold(text), words: words(text) })), //
  );
}

function check(
  criteriaOf: (text: string) => Parameters<typeof notes.filter>[0],
  matches: (stored: string, text: string) => boolean,
) {
  fc.assert(
    fc.property(stored, typed, (texts, text) => {
      store(texts);
      const found = notes.sync.filter(criteriaOf(text)).map((note) => note.text);
      expect(found).toEqual(texts.filter((each) => matches(each, text)));
    }),
    runs(100),
  );
}

describe('finds what a naive loop finds', () => {
  test('contains', () => {
    check(
      (text) => ({ text: contains(text) }),
      (each, text) => each.includes(text),
    );
  });

  test('startsWith', () => {
    check(
      (text) => ({ text: startsWith(text) }),
      (each, text) => each.startsWith(text),
    );
  });

  test('ignoring case', () => {
    const lower = (text: string) => text.toLowerCase();
    check(
      (text) => ({ text: contains(text, { ignore_case: true }) }),
      (each, text) => lower(each).includes(lower(text)),
    );
    check(
      (text) => ({ text: startsWith(text, { ignore_case: true }) }),
      (each, text) => lower(each).startsWith(lower(text)),
    );
  });

  test('ignoring accents, in a folded field', () => {
    check(
      (text) => ({ folded: contains(fold(text)) }),
      (each, text) => fold(each).includes(fold(text)),
    );
  });

  test('searchWords', () => {
    check(
      (text) => searchWords('words', text),
      (each, text) =>
        words(text).every((word) => words(each).some((other) => other.startsWith(word))),
    );
  });
});

describe('an index is used', () => {
  const long = Array.from({ length: 2000 }, (_, n) => `Note ${n} über Osaka|${n}`);

  test.each([
    ['startsWith', () => ({ text: startsWith('Note 77') }), 11],
    ['startsWith of a folded field', () => ({ folded: startsWith(fold('nôTE 77')) }), 11],
    ['searchWords, by its rarest word', () => searchWords('words', 'os ÜB 777'), 1],
  ])('by %s', async (_, criteria, found) => {
    store(long);
    const { plan, keys_examined, returned } = await notes.explain(criteria());
    expect(plan.kind).toBe('index');
    expect([returned, keys_examined]).toEqual([found, found]);
  });
});

test('a live query shows a document when its insert resolves', async () => {
  const client = connect({ name: `text ${Math.random()}`, worker: fakeWorker });
  const live = new client.Collection<Pick<Note, 'words'>>({
    name: 'live',
    type: 'DOCUMENT_BASED',
  });
  const found = live.live(searchWords('words', 'os'));
  const stop = found.subscribe(() => undefined);
  await found.ready;
  for (let n = 1; n <= 20; n++) {
    await live.insert({ words: ['oslo', 'fjord'] });
    expect(found.getSnapshot().data).toHaveLength(n);
  }
  stop();
  await client.close();
});

describe('whatever is typed', () => {
  test('an empty text finds all documents, also those without the field', async () => {
    store(['a', 'b']);
    const params = [{ text: contains('') }, { text: startsWith('') }, searchWords('words', ' ?! ')];
    for (const criteria of params) expect(await notes.count(criteria)).toBe(2);
    const bare = new db.Collection<{ text?: string }>({ name: 'bare', type: 'DOCUMENT_BASED' });
    await bare.insert({});
    expect(await bare.count({ text: contains('') })).toBe(1);
  });

  test.each([
    ['letters', 'a'.repeat(100_000)],
    ['signs', '('.repeat(100_000)],
    ['line separators', '\u2028'.repeat(100_000)],
    ['words', Array.from({ length: 10_000 }, (_, n) => `w${n}`).join(' ')],
    ['emoji', '👩‍🚀'.repeat(10_000)],
  ])('100,000 %s are searched for by their beginning', async (_, text) => {
    store([text, text.slice(0, 160)]);
    expect(await notes.count({ text: contains(text) })).toBeGreaterThan(0);
    expect(await notes.count({ text: startsWith(text) })).toBeGreaterThan(0);
    expect(await notes.count(searchWords('words', text))).toBeGreaterThan(0);
  });

  test('any string at all is accepted', () => {
    store(['a']);
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(notes.sync.count({ text: { $in: [text] } })).toBeLessThan(2);
        expect(notes.sync.count({ text: contains(text, { ignore_case: true }) })).toBeLessThan(2);
        expect(
          notes.sync.count({ ...searchWords('words', text), text: startsWith(text) }),
        ).toBeLessThan(2);
      }),
      runs(100),
    );
  });

  test('what is no string is taken as one', () => {
    expect(contains(7 as never)).toEqual({ $regex: /7/ });
    expect(startsWith(undefined as never)).toEqual({ $nin: [] });
  });
});
