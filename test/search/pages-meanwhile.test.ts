import { expect, test } from 'vitest';
import { Database, type DocumentCollection, memoryDriver } from '../../src/index.ts';
import { fc, runs } from '../setup/properties.ts';

interface Note {
  text: string;
}

type Notes = DocumentCollection<Note>;

/** What becomes of the last hit of a page before the next one is fetched. */
const CHANGES: Record<string, (notes: Notes, id: string) => Promise<unknown>> = {
  nothing: async () => undefined,
  deleted: (notes, id) => notes.delete(id),
  archived: (notes, id) => notes.archive(id),
  'another text': (notes, id) => notes.patch(id, { text: 'water' }),
  'behind all': (notes, id) => notes.patch(id, { text: `heavy ${'water '.repeat(30)}x y z` }),
  'before all': (notes, id) => notes.patch(id, { text: 'heavy' }),
  'others came': (notes) => notes.insertMany([{ text: 'water' }, { text: 'x y z' }]),
};

/** More words count less, and as many are a tie. */
const text = fc
  .nat(4)
  .map((words) => ['heavy', 'x', 'y', 'z', 'water'].slice(0, words + 1).join(' '));

test('pages miss no hit, and repeat none, whatever becomes of the last one', async () => {
  const run = async (texts: string[], changes: string[], limit: number) => {
    const db = new Database({ name: 'pages', storage: memoryDriver() });
    const notes: Notes = new db.Collection<Note>({
      ...{ name: 'notes', type: 'DOCUMENT_BASED' },
      indexes: [{ text: 'text' }],
    });
    await notes.insertMany(texts.map((each, at) => ({ _id: `${at}`, text: each })));
    const changed = new Set<string>();
    const shown: string[] = [];
    for (let page = await notes.search('heavy', { limit }); page.length > 0; ) {
      const ids = page.map(({ document }) => document._id);
      shown.push(...ids.filter((id) => !changed.has(id)));
      const change = changes.shift() ?? 'nothing';
      const last = ids.at(-1) as string;
      if (change !== 'others came') changed.add(last);
      await CHANGES[change]?.(notes, last);
      page = await notes.search('heavy', { limit, after: page.at(-1) });
      if (shown.length > texts.length) break;
    }
    expect(shown.toSorted()).toEqual(texts.map((_, at) => `${at}`).toSorted());
    await db.close();
  };
  await fc.assert(
    fc.asyncProperty(
      fc.array(text, { minLength: 20, maxLength: 40 }),
      fc.array(fc.constantFrom(...Object.keys(CHANGES)), { maxLength: 3 }),
      fc.integer({ min: 2, max: 7 }),
      run,
    ),
    runs(200),
  );
});
