import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type DraftResult, draftOf } from '../../src/bindings/core/draft.ts';
import { draftSource } from '../../src/bindings/core/sources.ts';
import { Database } from '../../src/index.ts';

interface Form {
  title: string;
  price: string;
  tags: string[];
}
type Name = keyof Form;

const NAMES = ['title', 'price', 'tags'] as const;
// Few values, so that both change a field to the same one, and back.
const value = fc.constantFrom('a', 'b', 'c');
const edits = fc
  .record({ title: value, price: value, tags: value.map((tag) => [tag]) }, { requiredKeys: [] })
  .map((given) => given as Partial<Form>);
/** Which draft of those that were handed out is spread: an old one as well. */
const which = fc.nat(20);

type Step = (at: Story) => void | Promise<void>;

const anyStep: fc.Arbitrary<[string, Step]> = fc.oneof(
  edits.map((given): [string, Step] => [
    `another user: ${JSON.stringify(given)}`,
    (at) => at.otherUser(given),
  ]),
  fc
    .tuple(which, edits)
    .map(([age, given]): [string, Step] => [
      `set({ ...draft ${age} ago, ${JSON.stringify(given)} })`,
      (at) => at.spread(age, given),
    ]),
  edits.map((given): [string, Step] => [`set(${JSON.stringify(given)})`, (at) => at.set(given)]),
  fc.constant<[string, Step]>(['save', (at) => at.save(true)]),
  fc.constant<[string, Step]>(['a save that fails', (at) => at.save(false)]),
  fc.constant<[string, Step]>(['reset', (at) => at.reset()]),
);

/**
 * A draft, and beside it what each user did to each field, written down by somebody who watched.
 */
class Story {
  #live: Form & { _id: string; _updated: boolean } = {
    _id: '1',
    _updated: false,
    title: 'a',
    price: 'a',
    tags: ['a'],
  };
  #result = this.#resultOf();
  /** What the user wants in a field, and what they saw there when they began. */
  readonly #mine = new Map<Name, { wanted: unknown; seen: unknown }>();
  readonly #handed: { draft: Form; saw: Record<Name, unknown> }[] = [];
  #fails = false;
  readonly #source = draftOf<Form, never>(
    { key: '1', subscribe: () => () => undefined, view: () => this.#result as never },
    async (fields) => {
      if (this.#fails) throw new Error('refused');
      this.#change(fields);
      return this.#live as never;
    },
  );

  #resultOf() {
    return { data: this.#live, status: 'ready', error: undefined, is_stale: false };
  }

  #change(given: object): void {
    this.#live = { ...this.#live, ...given, _updated: true };
    this.#result = this.#resultOf();
  }

  look(): DraftResult<Form, never> {
    const view = this.#source.view();
    if (view.draft !== this.#handed.at(-1)?.draft)
      this.#handed.push({ draft: view.draft as never, saw: { ...this.#live } });
    return view;
  }

  otherUser(given: Partial<Form>): void {
    this.#change(given);
  }

  spread(age: number, given: Partial<Form>): void {
    const { draft, saw } = this.#handed.at(-1 - (age % this.#handed.length)) as never as {
      draft: Form;
      saw: Form;
    };
    this.#source.view().set({ ...draft, ...given });
    for (const name of NAMES)
      if (name in given && !same(given[name], draft[name])) this.#want(name, given[name], saw);
  }

  set(given: Partial<Form>): void {
    this.#source.view().set(given);
    for (const name of NAMES) if (name in given) this.#want(name, given[name], this.#live);
  }

  #want(name: Name, wanted: unknown, saw: Form): void {
    if (same(wanted, this.#live[name])) this.#mine.delete(name);
    else this.#mine.set(name, { wanted, seen: this.#mine.get(name)?.seen ?? saw[name] });
  }

  async save(works: boolean): Promise<void> {
    this.#fails = !works;
    const wanted = this.#differing();
    const saved = this.#source.view().save();
    if (works || wanted.length === 0) await saved;
    else await expect(saved).rejects.toThrow('refused');
    // Also of what was typed and then set by the other user as well.
    for (const name of NAMES)
      if (!wanted.includes(name) || works || wanted.length === 0) this.#mine.delete(name);
    // What the user has stored is nobody else's change.
    if (works)
      for (const { saw } of this.#handed) for (const name of wanted) saw[name] = this.#live[name];
  }

  reset(): void {
    this.#source.view().reset();
    this.#mine.clear();
  }

  #differing(): Name[] {
    return [...this.#mine]
      .filter(([name, { wanted }]) => !same(wanted, this.#live[name]))
      .map(([name]) => name);
  }

  check(): void {
    const { draft, is_dirty, conflicts } = this.look();
    const wanted = Object.fromEntries([...this.#mine].map(([name, own]) => [name, own.wanted]));
    expect(JSON.parse(JSON.stringify(draft))).toEqual({ ...this.#live, ...wanted });
    const differing = this.#differing();
    expect(is_dirty).toBe(differing.length > 0);
    expect([...conflicts].sort()).toEqual(
      differing.filter((name) => !same(this.#mine.get(name)?.seen, this.#live[name])).sort(),
    );
  }
}

const same = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b);

test('a draft, however old, changes what its user has changed, and shows what both have', () =>
  fc.assert(
    fc.asyncProperty(fc.array(anyStep, { maxLength: 20 }), async (steps) => {
      const story = new Story();
      story.check();
      for (const [, step] of steps) {
        await step(story);
        story.check();
      }
    }),
    { numRuns: 500 },
  ));

/** A form that saves by itself, over a connection whose parts come when they come. */
class SlowForm {
  #result = { data: { _id: '1', title: 'a', price: 'a' } as object, status: 'ready' };
  /** What the engine has, and the live document does not show yet. */
  #stored = this.#result.data;
  /** Changes that the engine has not got, and replies that the page has not got. */
  readonly #asked: (() => void)[] = [];
  readonly #replies: (() => void)[] = [];
  readonly #wanted: Record<string, unknown> = {};
  readonly #saves: Promise<unknown>[] = [];
  readonly #source = draftOf<Form, never>(
    { key: '1', subscribe: () => () => undefined, view: () => this.#result as never },
    (fields) =>
      new Promise((resolve) => {
        this.#asked.push(() => {
          this.#stored = { ...this.#stored, ...fields };
          this.#replies.push(() => resolve(this.#stored as never));
        });
      }),
  );

  set(given: Partial<Form>): void {
    this.#source.view().set(given);
    Object.assign(this.#wanted, given);
  }

  save = () => void this.#saves.push(this.#source.view().save());
  change = () => this.#asked.shift()?.();
  /** Behind the news of live queries, as an engine answers. */
  reply = () => {
    this.show();
    this.#replies.shift()?.();
  };
  show = () => {
    if (this.#stored !== this.#result.data) this.#result = { ...this.#result, data: this.#stored };
  };

  /** Lets all arrive. @returns what was stored, and what was typed. */
  async end() {
    this.save();
    while (this.#asked.length + this.#replies.length > 0) {
      this.change();
      this.reply();
    }
    await Promise.all(this.#saves);
    this.show();
    const { is_dirty, draft, conflicts } = this.#source.view();
    const wanted = { _id: '1', title: 'a', price: 'a', ...this.#wanted };
    return { stored: this.#stored, draft: { ...draft }, is_dirty, conflicts, wanted };
  }
}

const slowStep: fc.Arbitrary<[string, (form: SlowForm) => void]> = fc.oneof(
  fc
    .record({ title: value, price: value }, { requiredKeys: [] })
    .map((given): [string, (form: SlowForm) => void] => [
      `set(${JSON.stringify(given)})`,
      (form) => form.set(given),
    ]),
  ...(['save', 'change', 'reply', 'show'] as const).map((step) =>
    fc.constant<[string, (form: SlowForm) => void]>([step, (form) => void form[step]()]),
  ),
);

test('what is typed last is stored, also if it is what the document had before a save', () =>
  fc.assert(
    fc.asyncProperty(fc.array(slowStep, { maxLength: 15 }), async (steps) => {
      const form = new SlowForm();
      for (const [, step] of steps) {
        step(form);
        // A reply goes on in microtasks.
        for (let turn = 0; turn < 5; turn++) await undefined;
      }
      const { wanted, ...found } = await form.end();
      expect(JSON.parse(JSON.stringify(found))).toEqual({
        ...{ stored: wanted, draft: wanted, is_dirty: false, conflicts: [] },
      });
    }),
    { numRuns: 500 },
  ));

test('a box that is ticked and cleared while it is saved is cleared', async () => {
  const form = new SlowForm();
  form.set({ title: 'b' });
  form.save();
  form.set({ title: 'a' });
  expect(await form.end()).toMatchObject({ stored: { title: 'a' }, is_dirty: false });
});

test('a draft can be stored like any object', async () => {
  const db = new Database({ name: 'a draft', storage: 'memory' });
  const forms = new db.Collection<Form>({ name: 'forms', type: 'DOCUMENT_BASED' });
  const stored = await forms.insert({ title: 'a', price: 'b', tags: [] });
  const { draft } = draftOf<Form, never>(
    {
      key: '1',
      subscribe: () => () => undefined,
      view: () => ({ data: stored, status: 'ready', error: undefined, is_stale: false }),
    },
    async () => undefined,
  ).view();
  const { _id, ...fields } = draft as typeof stored;
  const copy = await forms.insert({ ...fields, title: 'copy' });
  expect(copy).toEqual({ ...stored, _id: copy._id, title: 'copy' });
  expect(await forms.filter({ ...fields } as never)).toHaveLength(1);
  await forms.patch(copy._id, { tags: [draft] } as never);
  expect(Object.getOwnPropertySymbols((await forms.get(copy._id))?.tags[0])).toEqual([]);
  await db.close();
});

test.each(['title', 'a.b', '$inc', '$cost', ''])('a draft stores the field "%s"', async (field) => {
  const db = new Database({ name: `a field ${field}`, storage: 'memory' });
  const forms = new db.Collection<Record<string, unknown>>({
    ...{ name: 'forms', type: 'DOCUMENT_BASED' },
  });
  await forms.insert({ _id: '1', [field]: 1, other: 1 });
  const source = draftSource('useDraft', forms, '1');
  const leave = source.subscribe(() => undefined);
  await expect.poll(() => source.view().status).toBe('ready');
  source.view().set({ [field]: { other: 2 } });
  const saved = source.view().save();
  await forms.patch('1', { third: 3 });
  const stored = { [field]: { other: 2 }, other: 1 };
  expect(await saved).toMatchObject(stored);
  const fields = { _id: '1', _updated: true, _archived: false };
  expect(await forms.get('1')).toEqual({ ...fields, ...stored, third: 3 });
  leave();
  await db.close();
});
