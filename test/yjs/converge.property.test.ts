import { afterEach, expect, test } from 'vitest';
import * as Y from 'yjs';
import { replicate } from '../../src/replication/index.ts';
import type { Remote } from '../../src/replication/protocol/remote.ts';
import { isUpdate, missingUpdate } from '../../src/yjs/kept-doc.ts';
import { MemoryRemote } from '../replication/memory-remote.ts';
import { fc, runs } from '../setup/properties.ts';
import { closeAll, openDoc, openTexts, read } from './people.ts';

afterEach(closeAll);

const WRITERS = 3;
const edit = fc.record({
  writer: fc.nat(WRITERS - 1),
  at: fc.nat(30),
  deletes: fc.nat(3),
  inserts: fc.string({ maxLength: 4, unit: 'grapheme' }),
  /** Whose edits the writer gets afterwards. */
  hears: fc.option(fc.nat(WRITERS - 1)),
});
type Edit = typeof edit extends fc.Arbitrary<infer E> ? E : never;

function apply(text: Y.Text, { at, deletes, inserts }: Edit): void {
  const place = Math.min(at, text.length);
  text.doc?.transact(() => {
    text.delete(place, Math.min(deletes, text.length - place));
    if (inserts) text.insert(place, inserts);
  });
}

/** The updates of writers who hear of each other now and then, and the text of all of them. */
function write(edits: readonly Edit[]): { updates: Uint8Array[]; text: string } {
  const updates: Uint8Array[] = [];
  const docs = Array.from({ length: WRITERS }, (_, index) => {
    const doc = new Y.Doc();
    doc.clientID = index + 1;
    doc.on('update', (update: Uint8Array, origin) => {
      if (origin !== 'other') updates.push(update);
    });
    return doc;
  });
  for (const each of edits) {
    const doc = docs[each.writer] as Y.Doc;
    apply(doc.getText(), each);
    if (each.hears !== null)
      Y.applyUpdate(doc, Y.encodeStateAsUpdate(docs[each.hears] as Y.Doc), 'other');
  }
  const whole = new Y.Doc();
  for (const doc of docs) Y.applyUpdate(whole, Y.encodeStateAsUpdate(doc));
  return { updates, text: whole.getText().toString() };
}

const shuffled = fc.array(edit, { minLength: 1, maxLength: 40 }).chain((edits) => {
  const { updates, text } = write(edits);
  const places = fc.array(fc.nat(Math.max(0, updates.length - 1)), { maxLength: 5 });
  return fc.record({
    text: fc.constant(text),
    rows: fc
      .shuffledSubarray(updates, { minLength: updates.length })
      .chain((rows) =>
        places.map((doubled) => [...rows, ...doubled.flatMap((at) => rows[at] ?? [])]),
      ),
    cuts: fc.array(fc.nat(updates.length), { maxLength: 3 }),
  });
});

test('rows in any order, some of them doubled, merged in the middle, make the same text', async () => {
  await fc.assert(
    fc.asyncProperty(shuffled, async ({ rows, cuts, text }) => {
      const { texts } = openTexts();
      const { text: shown, kept, errors } = await openDoc(texts);
      for (const [at, update] of rows.entries()) {
        await texts.insert({ doc: 'letter', update });
        if (cuts.includes(at)) await kept.compact();
      }
      await expect.poll(() => shown.toString()).toBe(text);
      await kept.compact();
      expect(await texts.count()).toBeLessThanOrEqual(1);
      expect(await read(texts)).toBe(text);
      expect(errors).toEqual([]);
      await closeAll();
    }),
    runs(240),
  );
});

test('what is missing is exactly what a Y.Doc has more', () => {
  fc.assert(
    fc.property(fc.array(edit, { maxLength: 30 }), fc.nat(30), (edits, at) => {
      const { updates, text } = write(edits);
      const [stored, later] = [updates.slice(0, at), updates.slice(at)];
      const doc = new Y.Doc();
      for (const update of updates) Y.applyUpdate(doc, update);
      const missing = missingUpdate(
        doc,
        stored.map((update) => ({ update })),
      );
      expect(missing === undefined).toBe(later.length === 0);
      const read = new Y.Doc();
      for (const update of [...stored, ...(missing ? [missing] : [])]) Y.applyUpdate(read, update);
      expect(read.getText().toString()).toBe(text);
    }),
    runs(1000),
  );
});

test('only updates of version 1 count as updates', () => {
  fc.assert(
    fc.property(fc.array(edit, { minLength: 1, maxLength: 10 }), fc.nat(), (edits, at) => {
      for (const update of write(edits).updates) {
        expect(isUpdate(update)).toBe(true);
        expect(isUpdate(update.slice(0, at % update.length))).toBe(false);
      }
    }),
    runs(1000),
  );
});

const step = fc.oneof(
  { weight: 6, arbitrary: fc.record({ does: fc.constant('edit' as const), edit }) },
  fc.record({ does: fc.constantFrom('compact', 'sync', 'reload'), who: fc.nat(WRITERS - 1) }),
);

test('devices that edit offline, merge rows and reload converge over replicate()', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 40 }), async (steps) => {
      const server = new MemoryRemote();
      const devices = await Promise.all(Array.from({ length: WRITERS }, () => openDevice(server)));
      let letters = 0;
      for (const each of steps) {
        if (each.does === 'edit') {
          const { text } = (devices[each.edit.writer] as Device).open;
          // Nobody deletes these: each has to be there in the end.
          text.insert(Math.min(each.edit.at, text.length), `<${letters++}>`);
          continue;
        }
        const device = devices[each.who] as Device;
        if (each.does === 'reload') await device.reload();
        if (each.does === 'compact') {
          await device.open.kept.save();
          await device.open.kept.compact();
        }
        if (each.does === 'sync') await device.settle();
      }
      for (let round = 0; round < 2; round++) for (const device of devices) await device.settle();
      const [first = ''] = await Promise.all(devices.map(({ texts }) => read(texts)));
      for (const { texts, open } of devices) {
        expect(await read(texts)).toBe(first);
        await expect.poll(() => open.text.toString()).toBe(first);
        expect(open.errors).toEqual([]);
      }
      const found = [...first.matchAll(/\d+/g)].map(([number]) => Number(number));
      expect(found.length).toBeGreaterThanOrEqual(letters);
      for (const device of devices) await device.end();
      await closeAll();
    }),
    runs(100),
  );
});

test('who gets changes one by one has the whole before its parts go', async () => {
  const server = new MemoryRemote();
  const ada = await openDevice(server);
  for (const word of ['one ', 'two ', 'three ']) {
    ada.open.text.insert(ada.open.text.length, word);
    await ada.open.kept.save();
  }
  await ada.settle();
  const slow: Remote<number> = {
    ...{ id: 'slow', push: (rows) => server.push(rows) },
    pull: (after) => server.pull(after, { limit: 1 }),
  };
  const bo = await openDevice(slow);
  await bo.settle();
  expect(await read(bo.texts)).toBe('one two three ');
  const { length } = server.pushes;
  await ada.open.kept.compact();
  await ada.settle();
  expect(
    server.pushes
      .slice(length)
      .flat()
      .map(({ document }) => document !== undefined),
  ).toEqual([...[true, false, false, false]]);
  const seen: string[] = [];
  const states: Promise<unknown>[] = [];
  bo.sync.on('pulled', () => {
    states.push(read(bo.texts).then((text) => seen.push(text)));
  });
  await bo.settle();
  await Promise.all(states);
  expect(seen.length).toBeGreaterThan(2);
  expect(new Set(seen)).toEqual(new Set(['one two three ']));
  for (const device of [ada, bo]) await device.end();
});

type Device = Awaited<ReturnType<typeof openDevice>>;

async function openDevice(remote: Remote<number>) {
  const { texts } = openTexts();
  const sync = replicate(texts, { remote });
  sync.pause();
  return {
    texts,
    sync,
    open: await openDoc(texts),
    async reload() {
      await this.open.kept.close();
      this.open = await openDoc(texts);
    },
    async settle() {
      await this.open.kept.save();
      sync.resume();
      await sync.settled({ timeout: 60_000 });
      sync.pause();
    },
    end: () => sync.stop(),
  };
}
