import { isDeepStrictEqual } from 'node:util';
import { expect, test } from 'vitest';
import { type DocumentCollection, memoryDriver, type StorageDriver } from '../../src/index.ts';
import { openClient } from '../engine/engine-client.ts';
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

type Notes = DocumentCollection<Note>;
type Change = (notes: Notes) => Promise<unknown>;

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

const open = (storage: StorageDriver) => {
  const { client, clock } = openClient(storage);
  const notes = new client.Collection<Note>({
    ...{ name: 'notes', type: 'DOCUMENT_BASED' },
    indexes: [{ text: { title: 2, tags: 1 } }, 'n'],
  });
  return { client, clock, notes };
};

/** Scores depend on all documents, and are no news. */
const seen = (hits: readonly { readonly score: number }[] | undefined) =>
  hits?.map(({ score: _, ...hit }) => hit);

const search = (notes: Notes) =>
  Promise.all(QUERIES.map(([typed, options]) => notes.search(typed, options)));

test('live hits are those of a fresh search after each of a thousand changes', async () => {
  let compared = 0;
  const run = async (changes: readonly Change[]) => {
    const storage = memoryDriver();
    const { client, clock, notes } = open(storage);
    const lives = QUERIES.map(([typed, options]) => notes.liveSearch(typed, options));
    const stops = lives.map((live) => live.subscribe(() => undefined));
    await Promise.all(lives.map((live) => live.ready));
    const shown = () => lives.map((live) => seen(live.getSnapshot().data));
    for (const apply of changes) {
      await apply(notes);
      const fresh = (await search(notes)).map(seen);
      for (let turn = 0; turn < 20 && !isDeepStrictEqual(shown(), fresh); turn++)
        await clock.advance(100);
      expect(shown()).toEqual(fresh);
      compared++;
    }
    for (const stop of stops) stop();
    const before = await search(notes);
    await client.close();
    // Scores depend on the documents, and not on what was changed before.
    const again = open(storage);
    expect(await search(again.notes)).toEqual(before);
    await again.client.close();
  };
  await fc.assert(
    fc.asyncProperty(fc.array(change, { minLength: 40, maxLength: 80 }), run),
    runs(88),
  );
  expect(compared).toBeGreaterThan(1000);
});
