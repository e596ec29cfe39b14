import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { Awareness } from 'y-protocols/awareness';
import * as Y from 'yjs';
import type { DocumentCollection } from '../../src/index.ts';
import { type DocUpdate, keepDoc } from '../../src/yjs/index.ts';
import { closeAll, openDoc, openTexts, read } from './people.ts';

let texts: DocumentCollection<DocUpdate>;
let db: ReturnType<typeof openTexts>['db'];
beforeEach(() => {
  ({ texts, db } = openTexts());
});
afterEach(closeAll);

describe('a Y.Doc', () => {
  test('has after a reload what was written, and others of the collection have theirs', async () => {
    const letter = await openDoc(texts);
    const list = await openDoc(texts, 'list');
    letter.text.insert(0, 'Dear Ada');
    list.text.insert(0, 'milk');
    await Promise.all([letter.kept.close(), list.kept.close()]);
    expect(await read(texts)).toBe('Dear Ada');
    expect(await read(texts, 'list')).toBe('milk');
  });

  test('that is loaded, edited nowhere and closed appends nothing', async () => {
    const first = await openDoc(texts);
    first.text.insert(0, 'once');
    await first.kept.close();
    for (let visit = 0; visit < 5; visit++) expect(await read(texts)).toBe('once');
    expect(await texts.count()).toBe(1);
  });

  test('with content of its own appends what is not stored yet, once', async () => {
    const first = await openDoc(texts);
    first.text.insert(0, 'stored ');
    await first.kept.close();
    const doc = new Y.Doc();
    Y.applyUpdate(doc, Y.encodeStateAsUpdate(first.doc)); // as from another provider
    for (let visit = 0; visit < 3; visit++) {
      const kept = keepDoc(texts, doc, { name: 'letter' });
      await kept.close();
    }
    expect(await texts.count()).toBe(1);
    doc.getText().insert(7, 'and new');
    const kept = keepDoc(texts, doc, { name: 'letter' });
    await kept.close();
    expect(await texts.count()).toBe(2);
    expect(await read(texts)).toBe('stored and new');
  });

  test('stores edits that are made before it is loaded', async () => {
    const doc = new Y.Doc();
    const kept = keepDoc(texts, doc, { name: 'letter' });
    doc.getText().insert(0, 'early');
    await kept.close();
    expect(await read(texts)).toBe('early');
  });

  test('stores edits of one go as one row', async () => {
    const { text, kept } = await openDoc(texts);
    for (const letter of 'hello') text.insert(text.length, letter);
    await kept.close();
    expect(await texts.count()).toBe(1);
    expect(await read(texts)).toBe('hello');
  });

  test('that is closed or destroyed at once loses nothing, and stores nothing later', async () => {
    const one = await openDoc(texts);
    one.text.insert(0, 'a');
    one.doc.destroy();
    one.text.insert(0, 'never');
    await one.kept.close();
    expect(await read(texts)).toBe('a');
  });

  test('that is closed before it is loaded says so', async () => {
    const kept = keepDoc(texts, new Y.Doc(), { name: 'letter' });
    await kept.close();
    await expect(kept.ready).rejects.toMatchObject({ code: 'closed', place: 'letter' });
  });

  test('save() resolves when edits are in storage', async () => {
    const { text, kept } = await openDoc(texts);
    text.insert(0, 'kept');
    await kept.save();
    expect(db.status.unsaved).toBe(0);
    expect(await texts.count()).toBe(1);
  });

  test('shows the edits of another handle, whose transactions have it as origin', async () => {
    const [ada, bo] = [await openDoc(texts), await openDoc(texts)];
    const origins: unknown[] = [];
    bo.doc.on('afterTransaction', ({ origin, local }) => origins.push([origin === bo.kept, local]));
    ada.text.insert(0, 'Hi');
    await expect.poll(() => bo.text.toString()).toBe('Hi');
    expect(origins).toContainEqual([true, false]);
    bo.text.insert(2, ' Ada');
    await expect.poll(() => ada.text.toString()).toBe('Hi Ada');
    expect(await texts.count()).toBe(2);
  });
});

describe('rows', () => {
  test('are merged after edits, so that there are few, and nobody loses anything', async () => {
    const [ada, bo] = [await openDoc(texts), await openDoc(texts)];
    for (let n = 0; n < 300; n++) {
      for (const { text, kept } of n % 3 ? [ada] : [ada, bo]) {
        text.insert(n % 2 ? text.length : 0, `${n} `);
        await kept.save();
      }
    }
    await ada.kept.compact();
    await bo.kept.compact();
    expect(await texts.count()).toBeLessThan(70);
    await expect.poll(() => bo.text.toString()).toBe(ada.text.toString());
    expect(await read(texts)).toBe(ada.text.toString());
    expect([...ada.errors, ...bo.errors]).toEqual([]);
  });

  test('of deleted text shrink when they are merged', async () => {
    const { text, kept } = await openDoc(texts);
    text.insert(0, 'x'.repeat(1000));
    await kept.save();
    text.delete(0, 1000);
    await kept.save();
    await kept.compact();
    const rows = await texts.filter({});
    expect(rows.length).toBe(1);
    expect(rows[0]?.update.length).toBeLessThan(100);
  });

  test('that are large stay as they are, but for compact()', async () => {
    const { text, kept } = await openDoc(texts);
    text.insert(0, 'x'.repeat(200_000));
    await kept.save();
    const [large] = await texts.filter({});
    for (let n = 0; n < 150; n++) {
      text.insert(0, 'a');
      await kept.save();
    }
    await expect.poll(() => texts.count()).toBeLessThan(70);
    expect(await texts.get(large?._id ?? '')).toEqual(large);
    await kept.compact();
    expect(await texts.count()).toBe(1);
    expect((await read(texts)).lastIndexOf('a')).toBe(149);
  });

  test('stay whole when two merge them at the same time', async () => {
    const [ada, bo] = [await openDoc(texts), await openDoc(texts)];
    for (const { text, kept } of [ada, bo, ada, bo]) {
      text.insert(0, 'word ');
      await kept.save();
    }
    await expect.poll(() => bo.text.length + ada.text.length).toBe(40);
    await Promise.all([ada.kept.compact(), bo.kept.compact()]);
    expect(await texts.count()).toBeLessThanOrEqual(2);
    expect((await read(texts)).length).toBe(20);
    await ada.kept.compact();
    expect(await texts.count()).toBe(1);
    expect((await read(texts)).length).toBe(20);
  });

  test('stay where a backup of before their merge is loaded in the middle of it', async () => {
    const { text, kept } = await openDoc(texts);
    for (const word of ['Ada', 'Dear ']) {
      text.insert(0, word);
      await kept.save();
    }
    const backup = await texts.createBackup();
    vi.spyOn(texts, 'save').mockImplementationOnce(async () => {
      await texts.loadBackup(backup);
    });
    await kept.compact();
    expect(await read(texts)).toBe('Dear Ada');
  });

  test('that were deleted stay deleted, until an edit needs what it stands on', async () => {
    const { text, kept } = await openDoc(texts);
    text.insert(0, 'Hello');
    await kept.save();
    await texts.deleteMany({ doc: 'letter' });
    await kept.save();
    expect(await read(texts)).toBe('');
    text.insert(5, ' again');
    await kept.close();
    expect(await read(texts)).toBe('Hello again');
  });
});

describe('awareness', () => {
  test('is shared by the tabs of a database, and leaves with a tab', async () => {
    const name = crypto.randomUUID();
    const [ada, bo, other] = await Promise.all(
      ['letter', 'letter', 'list'].map(async (title, index) => {
        const tab = openTexts({ name, storage: 'indexeddb' });
        const doc = new Y.Doc();
        const awareness = new Awareness(doc);
        awareness.setLocalStateField('name', ['Ada', 'Bo', 'Cy'][index]);
        const kept = keepDoc(tab.texts, doc, { name: title, awareness });
        await kept.ready;
        return { awareness, kept, doc };
      }),
    );
    if (!ada || !bo || !other) throw new Error();
    const people = ({ awareness }: typeof ada) =>
      [...awareness.getStates().values()].map((state) => state.name).sort();
    await expect
      .poll(() => [people(ada), people(bo)])
      .toEqual([
        ['Ada', 'Bo'],
        ['Ada', 'Bo'],
      ]);
    ada.awareness.setLocalStateField('name', 'Ada L.');
    await expect.poll(() => people(bo)).toEqual(['Ada L.', 'Bo']);
    const foreign = new BroadcastChannel(`cairn-yjs:${name}:texts:letter`);
    for (const message of ['nonsense', null, new Uint8Array([9, 9, 9])])
      foreign.postMessage(message);
    foreign.close();
    bo.doc.destroy();
    await expect.poll(() => people(ada)).toEqual(['Ada L.']);
    expect(people(other)).toEqual(['Cy']);
    await ada.kept.close();
    expect(people(ada)).toEqual([]);
    for (const { doc } of [ada, other]) doc.destroy();
  });
});

describe('bad input', () => {
  test.each([
    ['no collection', () => keepDoc({} as never, new Y.Doc(), { name: 'a' }), 'collection'],
    ['no Y.Doc', () => keepDoc(texts, {} as never, { name: 'a' }), 'doc'],
    ['an empty name', () => keepDoc(texts, new Y.Doc(), { name: '' }), 'name'],
    [
      'an awareness of another Y.Doc',
      () => {
        const awareness = new Awareness(new Y.Doc());
        awareness.destroy();
        return keepDoc(texts, new Y.Doc(), { name: 'a', awareness });
      },
      'awareness',
    ],
    [
      'a destroyed Y.Doc',
      () => {
        const doc = new Y.Doc();
        doc.destroy();
        return keepDoc(texts, doc, { name: 'a' });
      },
      'doc',
    ],
  ])('%s is refused', (_, keep, place) => {
    expect(keep).toThrow(expect.objectContaining({ code: 'option_invalid', place }));
  });

  test('a key-value collection is refused', () => {
    const settings = new db.Collection({ name: 'settings', type: 'KEY_VALUE_BASED' });
    expect(() => keepDoc(settings as never, new Y.Doc(), { name: 'a' })).toThrow(
      expect.objectContaining({ code: 'option_invalid', place: 'collection' }),
    );
  });

  test('a Y.Doc that is another document is refused until that is closed', async () => {
    const { doc, kept } = await openDoc(texts);
    for (const name of ['letter', 'other'])
      expect(() => keepDoc(texts, doc, { name })).toThrow(
        expect.objectContaining({ code: 'option_conflict', place: 'doc' }),
      );
    await kept.close();
    await keepDoc(texts, doc, { name: 'other' }).close();
  });

  test('a Y.Doc of another copy of Yjs is refused', () => {
    const foreign = { transact: () => undefined, on: () => undefined };
    expect(() => keepDoc(texts, foreign as never, { name: 'a' })).toThrow(
      expect.objectContaining({ code: 'peer_unsupported', place: 'yjs' }),
    );
  });

  test('updates that do not decode are reported, left out and kept', async () => {
    const whole = new Y.Doc();
    whole.getText().insert(0, 'whole');
    const second = Y.encodeStateAsUpdateV2(whole);
    const cut = Y.encodeStateAsUpdate(whole).slice(0, -4);
    await texts.insertMany([
      { _id: 'cut', doc: 'letter', update: cut },
      { _id: 'version 2', doc: 'letter', update: second },
      { _id: 'text', doc: 'letter', update: 'no bytes' as never },
      { _id: 'good', doc: 'letter', update: Y.encodeStateAsUpdate(whole) },
    ]);
    const doc = new Y.Doc();
    const kept = keepDoc(texts, doc, { name: 'letter' });
    const errors: Error[] = [];
    kept.on('error', (error) => errors.push(error));
    await kept.ready;
    expect(errors).toMatchObject([
      { code: 'data_damaged', message: expect.stringContaining('"cut"') },
      { code: 'data_damaged', message: expect.stringContaining('"version 2"') },
      { code: 'data_damaged', message: expect.stringContaining('"text"') },
    ]);
    expect(doc.getText().toString()).toBe('whole');
    doc.getText().insert(5, '.');
    await kept.save();
    await kept.compact();
    expect((await texts.filter({})).map(({ _id }) => _id)).toEqual(
      expect.arrayContaining(['cut', 'version 2', 'text']),
    );
    expect(await texts.count()).toBe(4);
  });
});

describe('what was refused', () => {
  test('is an event, rejects save() and close(), and is stored when that passes', async () => {
    let isOpen = true;
    const guarded = new db.Collection<DocUpdate>({
      name: 'guarded',
      type: 'DOCUMENT_BASED',
      schema: {
        '~standard': {
          version: 1,
          vendor: 'test',
          validate: (value: unknown) =>
            isOpen ? { value: value as DocUpdate } : { issues: [{ message: 'not now' }] },
        },
      },
    });
    const { text, kept, errors } = await openDoc(guarded);
    text.insert(0, 'one ');
    await kept.save();
    isOpen = false;
    text.insert(4, 'two ');
    await expect(kept.save()).rejects.toMatchObject({ code: 'schema_violation' });
    expect(errors).toMatchObject([{ code: 'schema_violation' }]);
    isOpen = true;
    text.insert(8, 'three');
    await kept.close();
    expect(await read(guarded)).toBe('one two three');
  });

  test('after the database was closed is an error', async () => {
    const { text, kept, errors } = await openDoc(texts);
    await db.close();
    text.insert(0, 'late');
    await expect(kept.close()).rejects.toMatchObject({ code: 'closed' });
    expect(errors.length).toBeGreaterThan(0);
    await expect(keepDoc(texts, new Y.Doc(), { name: 'other' }).ready).rejects.toMatchObject({
      code: 'closed',
    });
  });
});
