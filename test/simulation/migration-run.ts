import { simulateBrowser } from './browser.ts';
import { Tab } from './tab.ts';
import { World } from './world.ts';

/** How many times each document was migrated is in it. */
interface Note {
  readonly n: number;
  readonly migrated?: number;
}

/** Something that happens to tabs in the middle of a migration. */
export type Happening = (tabs: {
  readonly older: readonly Tab[];
  readonly newer: readonly Tab[];
  readonly any: Tab;
}) => void;

const open = ({ db }: Tab) =>
  new db.Collection<Note>({ name: 'notes', type: 'DOCUMENT_BASED', caching: true });

const openNewer = ({ db }: Tab) =>
  new db.Collection<Note>({
    name: 'notes',
    type: 'DOCUMENT_BASED',
    version: 2,
    migrate: { 2: ({ n, migrated = 0 }) => ({ n, migrated: migrated + 1 }) },
  });

type Notes = ReturnType<typeof open>;

/** What came of the inserts of a tab. */
interface Inserts {
  readonly made: string[];
  readonly refused: unknown[];
  /** Neither is known: the answer was lost, or the tab ended. */
  readonly unknown: Set<string>;
}

/** Inserts from time to time, until the tab ends. */
function insertNow(world: World, tab: Tab, notes: Notes, inserts: Inserts, fields: object): void {
  for (let at = 0; at < 40; at++) {
    world.after(world.random.between(1, 1500), tab, () => {
      const _id = `${tab.id}.${at}`;
      inserts.unknown.add(_id);
      notes.insert({ _id, n: at, ...fields }).then(
        () => inserts.made.push(_id),
        (error: { code?: string }) => {
          if (error.code === 'answer_lost') return;
          inserts.unknown.delete(_id);
          inserts.refused.push(error.code);
        },
      );
    });
  }
}

/**
 * Two tabs with older code write, two with newer code open the collection; something happens
 * meanwhile.
 *
 * @returns what is wrong then.
 */
export async function migrateInTabs(seed: number, happen: Happening): Promise<unknown[]> {
  const world = new World(seed);
  const { random } = world;
  const browser = simulateBrowser(world);
  const older = [0, 1].map((id) => new Tab(id, browser));
  const olderNotes = older.map(open);
  const [first] = olderNotes as [Notes];
  const count = random.chance(0.3) ? 1500 : 30;
  const seeded = Array.from({ length: count }, (_, n) => ({ _id: `first ${n}`, n }));
  await world.hear(first.insertMany(seeded), 5000);
  await world.hear(Promise.all(olderNotes.map(({ ready }) => ready)));
  const inserts: Inserts = { made: [], refused: [], unknown: new Set() };
  for (const [index, tab] of older.entries())
    insertNow(world, tab, olderNotes[index] as Notes, inserts, {});
  const newer = [2, 3].map((id) => new Tab(id, browser));
  const problems: unknown[] = [];
  for (const tab of newer) {
    world.after(random.between(1, 800), tab, () => {
      const notes = openNewer(tab);
      // With their fields, as newer code inserts them.
      insertNow(world, tab, notes, inserts, { migrated: 1 });
    });
  }
  const any = random.pick([...older, ...newer]);
  const begin = () => happen({ older, newer, any });
  if (random.chance(0.5)) world.after(random.between(1, 1500), undefined, begin);
  else {
    // In the middle of the first migration.
    const stops = older.map(({ db }) =>
      db.on('migration', () => {
        for (const stop of stops) stop();
        world.after(random.between(0, 30), undefined, begin);
      }),
    );
  }
  await world.runUntil(world.now + 20_000);
  const last = new Tab(4, browser);
  const notes = openNewer(last);
  // A frozen tab holds the collection for a minute; then the inserts that wait are made.
  await world.hear(notes.ready, 90_000);
  await world.runUntil(world.now + 5000);
  const found = await world.hear(notes.filter({}), 10_000);
  for (const note of found) if (note.migrated !== 1) problems.push(note);
  const ids = new Set(found.map(({ _id }) => _id));
  for (const id of [...inserts.made, ...seeded.map(({ _id }) => _id)])
    if (!ids.has(id) && !isExcused(id)) problems.push(`${id} is lost`);
  for (const id of ids)
    if (!id.startsWith('first') && !inserts.unknown.has(id)) problems.push(`${id} was refused`);
  for (const code of inserts.refused) if (code !== 'schema_newer') problems.push(code);
  const { whole } = await world.hear(notes.verify(), 5000);
  if (!whole) problems.push('not whole');
  return problems;

  /**
   * A tab that ended without a word, or was frozen beyond the migration, may take along what was
   * not saved.
   */
  function isExcused(id: string): boolean {
    const tab = [...older, ...newer].find((one) => id.startsWith(`${one.id}.`));
    return tab === any;
  }
}
