import { expect, test } from 'vitest';
import { Database, type DocumentCollection, memoryDriver } from '../../src/index.ts';
import { fc, runs } from '../setup/properties.ts';

interface Note {
  title?: string;
  tags?: string[];
  n: number;
}

const word = fc.constantFrom('heavy', 'heave', 'water', 'waters', 'atom');
const text = fc.array(word, { maxLength: 5 }).map((words) => words.join(' '));
const note = fc.record(
  { title: text, tags: fc.array(text, { maxLength: 2 }), n: fc.nat(3) },
  { requiredKeys: ['n'] },
);
const id = fc.nat(25).map((n) => `d${n}`);

type Change = (notes: DocumentCollection<Note>) => Promise<unknown>;

const change: fc.Arbitrary<Change> = fc.oneof(
  { weight: 4, arbitrary: fc.tuple(id, note).map(put) },
  {
    weight: 2,
    arbitrary: fc.tuple(id, note).map(
      ([_id, one]): Change =>
        (notes) =>
          notes.patch(_id, one),
    ),
  },
  {
    weight: 2,
    arbitrary: id.map(
      (_id): Change =>
        (notes) =>
          notes.delete(_id),
    ),
  },
  {
    weight: 1,
    arbitrary: id.map(
      (_id): Change =>
        (notes) =>
          notes.archive(_id),
    ),
  },
  {
    weight: 1,
    arbitrary: id.map(
      (_id): Change =>
        (notes) =>
          notes.unarchive(_id),
    ),
  },
  {
    weight: 1,
    arbitrary: fc.nat(3).map(
      (n): Change =>
        (notes) =>
          notes.deleteMany({ n }),
    ),
  },
  { weight: 1, arbitrary: fc.tuple(fc.nat(3), text).map(patchAll) },
  { weight: 1, arbitrary: fc.constant<Change>((notes) => notes.save()) },
);

function put([_id, one]: [string, Note]): Change {
  return (notes) => notes.upsert({ _id, ...one });
}

function patchAll([n, title]: [number, string]): Change {
  return (notes) => notes.patchMany({ n }, { title });
}

const QUERIES = [
  ['heavy wat', {}],
  ['water atom', { mode: 'any', highlight: true, limit: 5 }],
  ['haevy', { fuzzy: true, criteria: { n: { $lte: 2 } } }],
  ['"heavy water" -atom', { archived: true, select: ['n'] }],
] as const;

const open = (db: Database) =>
  new db.Collection<Note>({
    ...{ name: 'notes', type: 'DOCUMENT_BASED' },
    indexes: [{ text: { title: 2, tags: 1 } }, 'n'],
  });

/** Scores depend on all documents, and are no news. */
const seen = (hits: readonly { readonly score: number }[] | undefined) =>
  hits?.map(({ score: _, ...hit }) => hit);

test('live hits are those of a fresh search after each change', async () => {
  let compared = 0;
  const run = async (changes: readonly Change[]) => {
    const storage = memoryDriver();
    const db = new Database({ name: 'live search', storage });
    const notes = open(db);
    const lives = QUERIES.map(([typed, options]) => notes.liveSearch(typed, options));
    const stops = lives.map((live) => live.subscribe(() => undefined));
    await Promise.all(lives.map((live) => live.ready));
    for (const apply of changes) {
      await apply(notes);
      for (const [at, [typed, options]] of QUERIES.entries()) {
        const fresh = seen(await notes.search(typed, options));
        await expect
          .poll(() => seen(lives[at]?.getSnapshot().data), { interval: 5 })
          .toEqual(fresh);
        compared++;
      }
    }
    for (const stop of stops) stop();
    const search = (from: typeof notes) =>
      Promise.all(QUERIES.map(([typed, options]) => from.search(typed, options)));
    const before = await search(notes);
    await db.close();
    // Scores depend on the documents, and not on what was changed before.
    const again = new Database({ name: 'live search', storage });
    expect(await search(open(again))).toEqual(before);
    await again.close();
  };
  await fc.assert(
    fc.asyncProperty(fc.array(change, { minLength: 5, maxLength: 40 }), run),
    runs(16),
  );
  expect(compared).toBeGreaterThan(100);
});
