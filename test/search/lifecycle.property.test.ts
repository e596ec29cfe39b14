import { expect, test } from 'vitest';
import { encrypted } from '../../src/encryption/index.ts';
import type { DocumentCollection, IndexOption, StorageDriver } from '../../src/index.ts';
import { memoryDriver } from '../../src/storage/drivers/memory-driver.ts';
import { openClient } from '../engine/engine-client.ts';
import { settled } from '../engine/fake-clock.ts';
import { fc, runs } from '../setup/properties.ts';

interface Note {
  title?: string;
  more?: string | string[];
  at?: number[];
  n?: number;
  ends?: Date;
}

type Notes = DocumentCollection<Note>;

const WORDS = ['heavy', 'water', 'atoms', 'atom', 'the'];
/** Other words, weights, paths and endings: each has a column of its own, or shares one. */
const OPTIONS: readonly (readonly IndexOption[])[] = [
  [{ text: { title: 1, more: 2 } }, { vector: 'at', dimensions: 2, metric: 'euclidean' }, 'n'],
  [{ text: { title: 5, more: 1 } }, { vector: 'at', dimensions: 2, metric: 'dot' }],
  [{ text: ['title', 'more'], stemmer: 'english' }, 'n'],
  [
    { text: 'title', stop_words: ['the'] },
    { vector: 'at', dimensions: 2, metric: 'euclidean' },
  ],
  [
    { text: ['title', 'more'], synonyms: [['heavy', 'water']] },
    { fields: 'title', collation: 'en' },
  ],
];

/** What one of {@link OPTIONS} makes of a document's words. */
function wordsOf({ title, more = [] }: Note, option: number): ReadonlySet<string> {
  const texts = option === 3 ? [title ?? ''] : [title ?? '', more].flat();
  const words = texts.flatMap((text) => text.split(' ')).filter(Boolean);
  const stemmed = option === 2 ? words.map((word) => word.replace(/^atoms$/, 'atom')) : words;
  return new Set(stemmed.filter((word) => option !== 3 || word !== 'the'));
}

function matches(note: Note, word: string, option: number): boolean {
  const words = wordsOf(note, option);
  if (option === 2 && word === 'atoms') return words.has('atom');
  if (option === 4 && (word === 'heavy' || word === 'water'))
    return words.has('heavy') || words.has('water');
  return words.has(word);
}

const text = fc.array(fc.constantFrom(...WORDS), { maxLength: 4 }).map((words) => words.join(' '));
const note: fc.Arbitrary<Note> = fc.record(
  {
    title: text,
    more: fc.oneof(text, fc.array(text, { maxLength: 2 })),
    at: fc.tuple(fc.nat(5), fc.nat(5)).map((pair): number[] => pair),
    n: fc.nat(3),
    // Of the clock of the test.
    ends: fc.nat(20).map((seconds) => new Date(1_700_000_000_000 + 1000 * seconds)),
  },
  { requiredKeys: [] },
);
const id = fc.nat(12).map((n) => `d${n}`);
const option = fc.nat(OPTIONS.length - 1);

const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('put' as const), id, note }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('patch' as const), id, note }) },
  fc.record({ kind: fc.constant('insertMany' as const), notes: fc.array(note, { maxLength: 30 }) }),
  fc.record({ kind: fc.constantFrom('delete' as const, 'archive', 'unarchive'), id }),
  fc.record({ kind: fc.constant('patchMany' as const), n: fc.nat(3), note }),
  fc.record({ kind: fc.constant('deleteMany' as const), n: fc.nat(3) }),
  fc.record({
    kind: fc.constant('transaction' as const),
    changes: fc.array(fc.tuple(id, fc.option(note)), { minLength: 1, maxLength: 4 }),
    fails: fc.boolean(),
  }),
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant('rest' as const), ms: fc.constantFrom(0, 10, 3000) }),
  },
  fc.record({ kind: fc.constantFrom('backup' as const, 'load', 'export', 'drop', 'rename') }),
  fc.record({ kind: fc.constant('import' as const), merge: fc.boolean() }),
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constantFrom('reopen' as const, 'migrate', 'beside'),
      ...{ option, caching: fc.boolean(), finishes: fc.boolean() },
    }),
  },
);

type Step = typeof step extends fc.Arbitrary<infer S> ? S : never;

/** A collection through its life, with all searches compared with a look at all documents. */
class Life {
  readonly #driver: StorageDriver;
  readonly #isSealed: boolean;
  #name = 'notes';
  #version = 1;
  #option = 0;
  #caching = true;
  #open: ReturnType<typeof openClient>;
  #notes: Notes;
  #backups: { name: string; option: number; version: number }[] = [];
  #files: Blob[] = [];
  searches = 0;

  constructor(isSealed: boolean) {
    const driver = memoryDriver();
    this.#isSealed = isSealed;
    this.#driver = isSealed ? encrypted(driver, { key: new Uint8Array(32) }) : driver;
    this.#open = openClient(this.#driver, undefined, 1);
    this.#notes = this.#declare();
  }

  #declare(): Notes {
    const migrate = Object.fromEntries(
      Array.from({ length: this.#version - 1 }, (_, at) => [
        at + 2,
        (old: Note) => ({ ...old, title: `${old.title ?? ''} the`.trim() }),
      ]),
    );
    return new this.#open.client.Collection<Note>({
      ...{ name: this.#name, type: 'DOCUMENT_BASED', caching: this.#caching },
      activate_drop_method: true,
      expire_after: { field: 'ends', seconds: 0 },
      indexes: [...(OPTIONS[this.#option] as IndexOption[])],
      ...(this.#version > 1 && { version: this.#version, migrate: migrate as never }),
    }) as never;
  }

  async #hear<T>(promise: Promise<T>): Promise<T> {
    let isOver = false;
    const ended = promise.finally(() => {
      isOver = true;
    });
    ended.catch(() => undefined);
    for (let turn = 0; !isOver && turn < 5000; turn++) {
      // Code loads, and keys seal, in their own time.
      if (turn > (this.#isSealed ? 2 : 500)) await new Promise((resolve) => setTimeout(resolve, 1));
      await settled();
      if (turn % 20 === 19) await this.#open.clock.advance(20);
    }
    if (!isOver) throw new Error('no answer');
    return ended;
  }

  async take(step: Step): Promise<void> {
    const notes = this.#notes;
    switch (step.kind) {
      case 'put':
        return void (await this.#hear(notes.upsert({ _id: step.id, ...step.note })));
      case 'patch':
        return void (await this.#hear(notes.patch(step.id, step.note)));
      case 'insertMany':
        return void (await this.#hear(notes.insertMany(step.notes)));
      case 'delete':
      case 'archive':
      case 'unarchive':
        return void (await this.#hear(notes[step.kind](step.id)));
      case 'patchMany':
        return void (await this.#hear(notes.patchMany({ n: step.n }, step.note)));
      case 'deleteMany':
        return void (await this.#hear(notes.deleteMany({ n: step.n })));
      case 'transaction': {
        const done = this.#open.client.transaction(async (tx) => {
          for (const [_id, one] of step.changes)
            await (one ? tx(notes).upsert({ _id, ...one }) : tx(notes).delete(_id));
          if (step.fails) throw new Error('back');
        });
        return void (await this.#hear(done.catch(() => undefined)));
      }
      case 'rest':
        if (step.ms > 0) await this.#hear(notes.save());
        return this.#open.clock.advance(step.ms);
      case 'backup': {
        const name = await this.#hear(notes.createBackup());
        return void this.#backups.push({ name, option: this.#option, version: this.#version });
      }
      case 'load': {
        const last = this.#backups.at(-1);
        return void (last && (await this.#hear(notes.loadBackup(last.name))));
      }
      case 'export': {
        const name = await this.#hear(notes.createBackup());
        const stream = await this.#hear(notes.exportBackup(name));
        return void this.#files.push(await this.#hear(new Response(stream).blob()));
      }
      case 'import': {
        const file = this.#files.at(-1);
        const mode = step.merge ? 'merge' : 'replace';
        return void (file && (await this.#hear(notes.importBackup(file, { mode }))));
      }
      case 'drop':
        await this.#hear(notes.Drop());
        this.#backups = [];
        this.#notes = this.#declare();
        return;
      case 'rename': {
        const to = this.#name === 'notes' ? 'others' : 'notes';
        await this.#hear(notes.save());
        const renamed = await this.#hear(
          this.#open.client.renameCollection(this.#name, to).then(
            () => true,
            (error: { code: string }) =>
              error.code !== 'collection_missing' && Promise.reject(error),
          ),
        );
        if (renamed) this.#name = to;
        this.#notes = this.#declare();
        return;
      }
      case 'beside':
        // Another handle, with other indexes; the first one stays.
        this.#option = step.option;
        this.#notes = this.#declare();
        return;
      case 'migrate':
      case 'reopen':
        await this.#hear(notes.save());
        if (step.finishes) await this.#open.clock.advance(3000);
        await this.#hear(this.#open.client.close());
        this.#open = openClient(this.#driver, this.#open.clock, 1);
        if (step.kind === 'migrate') this.#version++;
        this.#option = step.option;
        this.#caching = step.caching;
        this.#notes = this.#declare();
    }
  }

  async check(): Promise<void> {
    const notes = this.#notes;
    // First of all: the collection may be opening.
    const early = WORDS.map((word) => this.#ids(notes, word));
    const hits = await this.#hear(Promise.all(early));
    const all = await this.#hear(notes.filter({}));
    this.#compare(hits, all, this.#option, 'now');
    await this.#nearest(all);
    const last = this.#backups.at(-1);
    if (!last || last.version !== this.#version || last.option !== this.#option) return;
    const view = notes.at(last.name);
    const then = await this.#hear(view.filter({}));
    const found = await this.#hear(Promise.all(WORDS.map((word) => this.#ids(view, word))));
    this.#compare(found, then, last.option, 'then');
    await this.#hear(view.close());
  }

  async #ids(notes: Pick<Notes, 'search'>, word: string): Promise<string[]> {
    const hits = await notes.search(word, { limit: 1000, prefix: false });
    this.searches++;
    return hits.map(({ document }) => document._id).sort();
  }

  #compare(
    found: readonly string[][],
    all: readonly (Note & { readonly _id: string })[],
    option: number,
    label: string,
  ): void {
    for (const [at, word] of WORDS.entries()) {
      const right = all.filter((one) => matches(one, word, option)).map(({ _id }) => _id);
      const expected = option === 3 && word === 'the' ? [] : right.sort();
      expect([label, word, found[at]]).toEqual([label, word, expected]);
    }
  }

  async #nearest(all: readonly (Note & { readonly _id: string })[]): Promise<void> {
    if (!JSON.stringify(OPTIONS[this.#option]).includes('vector')) return;
    const hits = await this.#hear(this.#notes.nearest([1, 2], { k: 1000 }));
    const right = all.filter(({ at }) => at).map(({ _id }) => _id);
    expect(hits.map(({ document }) => document._id).sort()).toEqual(right.sort());
  }

  async end(): Promise<void> {
    await this.#hear(this.#open.client.close());
  }
}

test('searches find what is there, whatever happens to a collection', async () => {
  let searches = 0;
  const run = async (steps: readonly Step[], isSealed: boolean) => {
    const life = new Life(isSealed);
    for (const step of steps) {
      await life.take(step);
      await life.check();
    }
    await life.end();
    searches += life.searches;
  };
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 25 }), fc.boolean(), run),
    runs(80),
  );
  expect(searches).toBeGreaterThan(100);
});
