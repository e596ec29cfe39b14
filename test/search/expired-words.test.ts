import { afterEach, expect, test, vi } from 'vitest';
import { Database } from '../../src/index.ts';

afterEach(() => vi.useRealTimers());

test.each([true, false])(
  'no suggestion has words of what has expired, caching %s',
  async (caching) => {
    const now = Date.now();
    // The sweep that removes looks at its timer.
    vi.useFakeTimers({ toFake: ['Date'], now });
    const db = new Database({ name: `expired words ${caching}`, storage: 'memory' });
    const notes = new db.Collection<{ title: string; ends?: Date }>({
      ...{ name: 'notes', type: 'DOCUMENT_BASED', caching },
      ...{ indexes: [{ text: 'title' }], expire_after: { field: 'ends', seconds: 0 } },
    });
    const ends = new Date(now + 1000);
    await notes.insertMany([
      { title: 'word alphabet', ends },
      { title: 'word beta', ends },
      { title: 'word beta' },
    ]);
    await db.save();
    expect(await notes.suggest('al')).toEqual([{ text: 'alphabet', documents: 1 }]);
    vi.setSystemTime(now + 2000);
    expect(await notes.suggest('al')).toEqual([]);
    expect(await notes.suggest('word al')).toEqual([]);
    expect(await notes.suggest('be')).toEqual([{ text: 'beta', documents: 1 }]);
    expect(await notes.suggest('word be')).toEqual([{ text: 'word beta', documents: 1 }]);
    await db.close();
  },
);
