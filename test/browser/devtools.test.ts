import axe from 'axe-core';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { OPERATORS } from '../../src/devtools/data/documents-pane.ts';
import { type CairnDevtools, liveQueriesOf, mountDevtools } from '../../src/devtools/index.ts';
import { Database, type DocumentCollection } from '../../src/index.ts';
import { fieldOperators } from '../../src/query/criteria/operators/field-operators.ts';

interface Person {
  readonly name: string;
  readonly age: number;
  readonly born?: Date;
}

let db: Database;
let people: DocumentCollection<Person, '_created_at'>;
let unmount: (() => void) | undefined;

beforeEach(async () => {
  sessionStorage.removeItem('cairndb-devtools');
  db = new Database({ name: `devtools ${Math.random()}`, storage: 'memory' });
  people = new db.Collection<Person>({
    name: 'people',
    type: 'DOCUMENT_BASED',
    indicate_created_at: true,
    indexes: ['age'],
  });
  await people.insertMany(Array.from({ length: 120 }, (_, n) => ({ name: `p${n}`, age: n % 60 })));
});

afterEach(async () => {
  unmount?.();
  unmount = undefined;
  document.querySelector('cairn-devtools')?.remove();
  await db.close();
});

function root(): ShadowRoot {
  return (document.querySelector('cairn-devtools') as CairnDevtools).shadowRoot as ShadowRoot;
}

const find = <E extends HTMLElement = HTMLElement>(selector: string): E => {
  const found = root().querySelector<E>(selector);
  if (!found) throw new Error(`There is no ${selector}: ${root().textContent}`);
  return found;
};

const until = (look: () => void) => vi.waitFor(look, { timeout: 60_000, interval: 20 });
const texts = (selector: string) =>
  [...root().querySelectorAll(selector)].map(({ textContent }) => textContent);
const press = (label: string, within = '') => {
  const all = [...root().querySelectorAll<HTMLButtonElement>(`${within} button`)];
  const pressed = all.find((each) =>
    [each.textContent, each.ariaLabel, each.title].includes(label),
  );
  if (!pressed) throw new Error(`There is no button ${label} among ${texts('button')}`);
  pressed.click();
};

async function mounted(documents = 120): Promise<void> {
  unmount = mountDevtools(db, { open: true });
  await until(() => expect(find('.summary').textContent).toContain(`1–50 of ${documents}`));
}

test('criteria are completed by paths of the documents and by each operator', async () => {
  await people.insert({ name: 'Ada', age: 36, home: { city: 'Turku' } } as Person);
  await mounted(121);
  const criteria = find<HTMLInputElement>('[placeholder^="{ region"]');
  const offered = (text: string) => {
    criteria.value = text;
    criteria.dispatchEvent(new Event('input'));
    return [...(criteria.list?.options ?? [])].map(({ value }) => value);
  };
  await until(() => expect(offered('{ ag')).toEqual(['{ age']));
  expect(offered("{ age: 3, 'n")).toEqual(["{ age: 3, 'name"]);
  expect(offered('{ age: { $gt')).toEqual(['{ age: { $gte']);
  expect(offered('{ age: { $bits')).toHaveLength(4);
  expect(offered('{ age: 3 ')).toEqual([]);
  const known = [...fieldOperators.keys()].filter((name) => !OPERATORS.includes(name));
  expect(known).toEqual([]);
  criteria.value = "{ name: 'Ada' }";
  criteria.form?.requestSubmit();
  await until(() => expect(offered('{ home.')).toEqual(["{ 'home.city'"]));
});

test('documents are shown page by page, and follow changes', async () => {
  await mounted();
  expect(texts('tbody tr')).toHaveLength(50);
  press('Last page');
  await until(() => expect(find('.summary').textContent).toContain('101–120 of 120'));
  await people.insert({ name: 'new', age: 1 });
  await until(() => expect(texts('tbody tr').at(-1)).toContain('new'));
});

test('a query shows its result, its plan, and what is wrong with it', async () => {
  await mounted();
  const criteria = find<HTMLInputElement>('.query input');
  criteria.value = '{ age: { $gte: 58 } }';
  press('Run');
  await until(() => expect(find('.summary').textContent).toContain('1–4 of 4'));
  await until(() => expect(find('.advice').textContent).toContain('index age'));
  criteria.value = '{ age: Oslo }';
  press('Run');
  await until(() => expect(find('.problem').textContent).toContain('"Oslo" is no value'));
  criteria.value = '{ age: { $gtt: 1 } }';
  press('Run');
  await until(() => expect(find('.problem').textContent).toContain('$gtt'));
});

test('an edit keeps kinds, refuses what cannot be parsed, and does not overwrite others', async () => {
  const { _id, _created_at } = await people.insert({ name: 'Ada', age: 99, born: new Date(5) });
  await mounted(121);
  find<HTMLInputElement>('.query input').value = `{ _id: '${_id}' }`;
  press('Run');
  await until(() => expect(texts('tbody tr')).toHaveLength(1));
  press(_id);
  await until(() => expect(root().activeElement?.tagName).toBe('TEXTAREA'));
  const text = find<HTMLTextAreaElement>('textarea');
  expect(text.value).toContain('born: Date("1970-01-01T00:00:00.005Z")');
  expect(find('#editor-kinds').textContent).toContain('Date');
  text.value = text.value.replace('99', 'ninety');
  press('Save');
  await until(() => expect(find('#editor-problem').textContent).toMatch(/^Line \d, column \d+/));
  expect((await people.get(_id))?.age).toBe(99);
  text.value = text.value.replace('ninety', '100');
  press('Save');
  await until(() => expect(root().querySelector('textarea')).toBe(null));
  expect(await people.get(_id)).toMatchObject({
    name: 'Ada',
    age: 100,
    born: new Date(5),
    _created_at,
  });
  await until(() => expect(texts('tbody tr')).toHaveLength(1));
  press(_id);
  await until(() => expect(root().querySelector('textarea')).not.toBe(null));
  await people.patch(_id, { name: 'Eve' });
  press('Save');
  await until(() => expect(find('#editor-problem').textContent).toContain('changed meanwhile'));
  press('Delete');
  expect(await people.count({ _id })).toBe(1);
  press('Really delete?');
  await until(() => expect(find('.summary').textContent).toContain('Nothing found'));
});

test('keys and values are shown, set and removed', async () => {
  const settings = new db.Collection({ name: 'settings', type: 'KEY_VALUE_BASED' });
  await settings.set(['a.b'], new Map([['x', 1n]]));
  await mounted();
  await until(() => find('[data-name="settings"]').click());
  await until(() => expect(texts('tbody tr')).toEqual(['a.bMap([["x", 1n]])']));
  press('a.b');
  find<HTMLTextAreaElement>('textarea').value = 'Set([2n])';
  press('Save');
  await until(() => expect(texts('tbody tr')).toEqual(['a.bSet([2n])']));
  expect(await settings.entries()).toEqual([['a.b', new Set([2n])]]);
});

test('live queries, queries with advice, events, backups and storage have their tabs', async () => {
  const live = people.live({ name: 'p7' });
  await live.ready;
  const stop = live.subscribe(() => undefined);
  await people.insertMany(Array.from({ length: 300 }, () => ({ name: 'x', age: 70 })));
  unmount = mountDevtools(db, { open: true });
  await until(() => expect(find('.summary').textContent).toContain('of 420'));
  expect(await liveQueriesOf(db)).toMatchObject([{ collection: 'people', emissions: 1 }]);
  press('Live');
  await until(() => expect(texts('tbody tr')[0]).toMatch(/people\{ name: "p7" \}ready1/));
  await people.filter({ name: 'p9' });
  press('Queries');
  await until(() =>
    expect(texts('.advice-list li')).toEqual([
      "people: 420 documents examined for 1: declare { fields: 'name' }",
    ]),
  );
  await people.insert({ name: 'y', age: 1 });
  await people.save();
  press('Activity');
  await until(() => expect(texts('.kind')).toEqual(expect.arrayContaining(['save', 'change'])));
  press('Backups');
  await until(() => expect(texts('option')).toEqual(['people']));
  press('Back up');
  await until(() => expect(texts('.summary')).toEqual(['Made a backup.']));
  await until(() => expect(texts('tbody tr')).toHaveLength(1));
  press('Storage');
  await until(() => expect(texts('tbody tr')[0]).toContain('peopledocuments'));
  press('Engine');
  await until(() => expect(find('dl').textContent).toContain('Leaderthis page'));
  stop();
  live.close();
});

test('plans of partners and pipelines, and indexes of words and vectors are shown', async () => {
  const pets = new db.Collection<{ owner: string; text: string; at?: number[] }>({
    ...{ name: 'pets', type: 'DOCUMENT_BASED' },
    indexes: [{ text: 'text' }, { vector: 'at', dimensions: 2 }],
  });
  const owners = new db.Collection({
    ...{ name: 'owners', type: 'DOCUMENT_BASED' },
    relations: { pets: { many: () => pets, to: 'owner' } },
  });
  await owners.insertMany([{ _id: 'ada' }, { _id: 'bob' }]);
  await pets.insertMany([
    { owner: 'ada', text: 'a heavy cat', at: [1, 0] },
    { owner: 'bob', text: 'a dog' },
  ]);
  const live = pets.liveAggregate([{ $group: { _id: '$owner', n: { $sum: 1 } } }]);
  const stop = live.subscribe(() => undefined);
  await live.ready;
  unmount = mountDevtools(db, { open: true });
  await until(() => press('Live'));
  await until(() => expect(texts('tbody tr')[0]).toContain('aggregate [{ $group'));
  press('Queries');
  await owners.filter({ pets: { $some: { text: /cat/ } } }, { include: { pets: true } });
  await owners.aggregate([{ $match: { pets: { $none: {} } } }, { $count: 'n' }]);
  await until(() => {
    const plans = texts('tbody tr').join('\n');
    expect(plans).toContain('pets ($some): scan; pets (include): scan');
    expect(plans).toContain('pets ($none): scan; 2 of 2 stages by the plan');
    expect(plans).toContain('scan; 0 of 1 stage by the plan, live 1 by differences');
  });
  press('Storage');
  await until(() =>
    expect(texts('tbody tr').slice(-2)).toEqual([
      expect.stringMatching(/^petswords of textready24\d+ B$/),
      'petsvectors of at (2 numbers, cosine)ready1–8 B',
    ]),
  );
  await pets.insert({ owner: 'ada', text: 'birds', at: [0, 1] });
  await until(() => expect(texts('tbody tr').at(-1)).toContain('ready2–16 B'));
  stop();
  live.close();
});

test('a partial index is advised for what all runs of a query ask for', async () => {
  const jobs = new db.Collection<any>({ name: 'jobs', type: 'DOCUMENT_BASED' });
  await jobs.insertMany(
    Array.from({ length: 300 }, (_, n) => ({ state: n < 9 ? 'open' : 'done', owner: `o${n % 3}` })),
  );
  unmount = mountDevtools(db, { open: true });
  await until(() => press('Live'));
  for (const owner of ['o0', 'o1', 'o2', 'o0']) await jobs.filter({ state: 'open', owner });
  press('Queries');
  const advice =
    "jobs: 300 documents examined for 3: declare { fields: 'owner', where: { state: 'open' } }, which has 3 % of the documents";
  await until(() => expect(texts('.advice-list li')).toEqual([advice]));
});

test('neither options nor indexes change, nor does the app see the queries of the devtools', async () => {
  const warn = vi.spyOn(console, 'warn').mockImplementation(() => undefined);
  const loud = new Database({ name: `own ${Math.random()}`, storage: 'memory', slow_query_ms: 0 });
  const things = new loud.Collection<Person>({
    ...{ name: 'things', type: 'DOCUMENT_BASED', indicate_created_at: true, indexes: ['age'] },
  });
  const slow = vi.fn();
  loud.on('slow_query', slow);
  await things.insert({ name: 'a', age: 1 });
  unmount = mountDevtools(loud, { open: true });
  await until(() => expect(find('.summary').textContent).toContain('1–1 of 1'));
  press('Run');
  await until(() => expect(find('.advice').textContent).toContain('Plan: scan'));
  expect(slow).not.toHaveBeenCalled();
  expect((await things.explain({ age: 1 })).plan).toMatchObject({ kind: 'index', index: 'age' });
  expect((await things.insert({ name: 'b', age: 1 }))._created_at).toBeInstanceOf(Date);
  expect(warn).not.toHaveBeenCalled();
  warn.mockRestore();
  unmount();
  await loud.close();
});

test('a collection that the app has not opened is opened only on demand', async () => {
  const name = `stored ${Math.random()}`;
  const before = new Database({ name });
  await new before.Collection({ name: 'old', type: 'DOCUMENT_BASED' }).insert({ a: 1 });
  await before.close();
  const after = new Database({ name });
  unmount = mountDevtools(after, { open: true });
  await until(() => find('[data-name="old"]').click());
  expect(find('.empty').textContent).toContain('its options are unknown');
  const own = new after.Collection({
    name: 'old',
    type: 'DOCUMENT_BASED',
    indicate_created_at: true,
  });
  expect(await own.insert({ a: 2 })).toHaveProperty('_created_at');
  await until(() => expect(find('.summary').textContent).toContain('1–2 of 2'));
  unmount();
  await after.close();
});

test('the keyboard moves through the tabs, resizes, and closes; what was chosen is remembered', async () => {
  await mounted();
  const key = (target: HTMLElement, name: string) =>
    target.dispatchEvent(new KeyboardEvent('keydown', { key: name, bubbles: true }));
  key(find('[role="tab"][aria-selected="true"]'), 'ArrowLeft');
  expect(root().activeElement?.textContent).toBe('Storage');
  const host = root().host as HTMLElement;
  const before = host.offsetHeight;
  key(find('[role="separator"]'), 'ArrowUp');
  expect(host.offsetHeight).toBeGreaterThan(before);
  press('Close the devtools');
  expect(root().activeElement?.textContent).toBe(`Cairn · ${db.name}`);
  unmount?.();
  unmount = mountDevtools(db, { open: true });
  expect(document.querySelector('cairn-devtools')?.hasAttribute('collapsed')).toBe(true);
});

test('an element takes its database early or late, another one, or none; a wrong one is refused', async () => {
  const element = document.createElement('cairn-devtools');
  document.body.append(element);
  expect(root().textContent).toContain('No database');
  element.database = {} as never;
  await until(() => expect(root().textContent).toContain('The devtools take a database'));
  element.database = db;
  await until(() => expect(find('.summary').textContent).toContain('of 120'));
  element.remove();
  document.body.append(element);
  await until(() => expect(find('.summary').textContent).toContain('of 120'));
  expect(() => mountDevtools(db, { position: 'top' } as never)).toThrow('"bottom" or "right"');
});

test('mounted twice for one database, there is one button', async () => {
  const first = mountDevtools(db);
  unmount = mountDevtools(db, { open: true });
  expect(document.querySelectorAll('cairn-devtools')).toHaveLength(1);
  // The first effect is cleaned up later.
  first();
  expect(document.querySelectorAll('cairn-devtools')).toHaveLength(1);
  await until(() => expect(find('.summary').textContent).toContain('of 120'));
});

test('the buttons of two databases lie beside each other', async () => {
  const other = new Database({ name: `other ${Math.random()}`, storage: 'memory' });
  const stop = mountDevtools(other);
  unmount = mountDevtools(db);
  const boxes = () =>
    [...document.querySelectorAll('cairn-devtools')].map(({ shadowRoot }) => {
      const launcher = shadowRoot?.querySelector('.launcher');
      return { text: launcher?.textContent, box: launcher?.getBoundingClientRect() };
    });
  await until(() => expect(boxes().map(({ box }) => box?.height)).not.toContain(undefined));
  const [first, second] = boxes();
  expect([first?.text, second?.text]).toEqual([`Cairn · ${other.name}`, `Cairn · ${db.name}`]);
  expect(second?.box?.bottom).toBeLessThanOrEqual(first?.box?.top ?? 0);
  stop();
  await other.close();
});

test('what is empty says so, and counts of one are singular', async () => {
  await mounted();
  await people.filter({ name: 'p9' });
  press('Queries');
  await until(() => expect(find('.summary').textContent).toContain('1 kind of query'));
  press('Live');
  await until(() => expect(find('.summary').textContent).toContain('No live query in this page'));
  press('Activity');
  press('Clear');
  await until(() => expect(find('.results').textContent).toContain('No event since'));
});

test('axe finds nothing in any tab, in light and dark', async () => {
  await mounted();
  for (const theme of ['light', 'dark']) {
    root().host.setAttribute('theme', theme);
    for (const name of texts('[role="tab"]')) {
      press(name ?? '');
      await until(() => expect(find('.view').children.length).toBe(1));
      const { violations } = await axe.run('cairn-devtools');
      expect(violations.map(({ id, nodes }) => `${name}, ${id}: ${nodes[0]?.html}`)).toEqual([]);
    }
  }
});
