import { expect, test } from 'vitest';
import * as Y from 'yjs';
import { type AutomergeChunk, automergeStorage } from '../../src/automerge/index.ts';
import { type DocUpdate, keepDoc } from '../../src/yjs/index.ts';
import { type Browser, simulateBrowser } from './browser.ts';
import { seedsOf } from './run-seeds.ts';
import { Tab } from './tab.ts';
import { World } from './world.ts';

/** Ends of a tab. */
const ENDS: readonly ((tab: Tab) => void)[] = [
  (tab) => tab.kill(),
  (tab) => tab.close(),
  (tab) => tab.quit(),
  (tab) => tab.freeze(8000),
];

/** A tab with the text, whose calls may be cut off by its end. */
function openText(id: number, browser: Browser) {
  const tab = new Tab(id, browser);
  const texts = new tab.db.Collection<DocUpdate>({
    ...{ name: 'texts', type: 'DOCUMENT_BASED', indexes: ['doc'] },
    ...{ save_timeout: 100, caching: id % 2 === 0 },
  });
  const doc = new Y.Doc();
  const kept = keepDoc(texts, doc, { name: 'letter' });
  const errors: Error[] = [];
  kept.on('error', (error) => errors.push(error));
  return { tab, texts, kept, text: doc.getText(), errors, made: [] as string[] };
}

test('a text loses no saved edit, and has none twice, when a tab ends in the middle of a merge', async () => {
  for (const seed of seedsOf(30)) {
    const world = new World(seed);
    const browser = simulateBrowser(world);
    const { random } = world;
    let tabs = [openText(0, browser)];
    await world.hearInTurns((tabs[0] as (typeof tabs)[number]).kept.ready);
    /** Edits that are in storage, by what their tab has heard. */
    const saved = new Set<string>();
    let edits = 0;
    for (let round = 1; round <= 5; round++) {
      tabs.push(openText(round, browser));
      await world.hearInTurns(Promise.all(tabs.map(({ kept }) => kept.ready)));
      for (let step = 0; step < 12; step++) {
        const { kept, text, made } = random.pick(tabs);
        const edit = `<${edits++}>`;
        // Behind a sign, so that no edit stands in the middle of another one.
        const ends = [...text.toString().matchAll(/>/g)].map(({ index }) => index + 1);
        text.insert(random.pick([0, ...ends]), edit);
        made.push(edit);
        if (random.chance(0.4))
          kept.save().then(
            () => saved.add(edit),
            () => undefined,
          );
        if (random.chance(0.3)) kept.compact().catch(() => undefined);
        if (random.chance(0.5)) await world.runUntil(world.now + random.between(0, 30));
      }
      await world.runUntil(world.now + random.between(0, 30));
      if (tabs.length < 3) continue;
      const at = random.below(2);
      random.pick(ENDS)((tabs[at] as (typeof tabs)[number]).tab);
      tabs = tabs.filter((_, other) => other !== at);
    }
    await world.runUntil(world.now + 20_000);
    await world.hearInTurns(Promise.all(tabs.map(({ kept }) => kept.save())));
    const first = openText(100, browser);
    await world.hearInTurns(first.kept.ready);
    const stored = editsOf(first.text);
    const own = tabs.flatMap(({ made }) => made);
    const missing = [...saved, ...own].filter((edit) => !stored.includes(edit));
    expect([seed, missing]).toEqual([seed, []]);
    // What others had not saved when they ended comes back with an edit of those who have seen it.
    for (const { text } of tabs) text.insert(0, `<${edits++}>`);
    await world.hearInTurns(Promise.all(tabs.map(({ kept }) => kept.save())));
    await world.runUntil(world.now + 1000);
    const last = openText(101, browser);
    await world.hearInTurns(last.kept.ready);
    const found = editsOf(last.text);
    expect([seed, found.length]).toEqual([seed, new Set(found).size]);
    for (const { text, errors } of [...tabs, first, last]) {
      expect([seed, text.toString()]).toEqual([seed, last.text.toString()]);
      expect([seed, errors]).toEqual([seed, []]);
    }
  }
});

const editsOf = (text: Y.Text) => [...text.toString().matchAll(/<\d+>/g)].map(([edit]) => edit);

/** Changes of a document of Automerge, as its chunks have them. */
const encode = (changes: Iterable<number>) => Uint8Array.from(changes);

test('chunks of Automerge lose no saved change while another tab compacts them', async () => {
  for (const seed of seedsOf(30)) {
    const world = new World(seed);
    const browser = simulateBrowser(world);
    const { random } = world;
    const open = (id: number) => {
      const tab = new Tab(id, browser);
      const chunks = new tab.db.Collection<AutomergeChunk>({
        ...{ name: 'chunks', type: 'DOCUMENT_BASED', indexes: ['doc'], save_timeout: 100 },
      });
      chunks.ready.catch(() => undefined);
      return { tab, chunks, storage: automergeStorage(chunks) };
    };
    type Opened = ReturnType<typeof open>;
    const saved = new Set<number>();
    let [changes, snapshots] = [0, 0];
    const add = async ({ chunks, storage }: Opened) => {
      const change = changes++;
      await storage.save(['letter', 'incremental', `c${change}`], encode([change]));
      await chunks.save();
      saved.add(change);
    };
    /** As automerge-repo does: the whole first, then what it stands for goes. */
    const compact = async ({ storage }: Opened) => {
      const parts = await storage.loadRange(['letter']);
      const all = new Set(parts.flatMap(({ data }) => [...(data ?? [])]));
      await storage.save(['letter', 'snapshot', `s${snapshots++}`], encode(all));
      await Promise.all(parts.map(({ key }) => storage.remove(key)));
    };
    let tabs = [open(0)];
    for (let round = 1; round <= 5; round++) {
      tabs.push(open(round));
      await world.hearInTurns(Promise.all(tabs.map(({ chunks }) => chunks.ready)));
      const calls: Promise<unknown>[] = [];
      for (let step = 0; step < 10; step++) {
        const call = random.chance(0.75) ? add : compact;
        calls.push(call(random.pick(tabs)).catch(() => undefined));
        await world.runUntil(world.now + random.between(0, 20));
      }
      if (tabs.length < 3) continue;
      const at = random.below(2);
      random.pick(ENDS)((tabs[at] as Opened).tab);
      tabs = tabs.filter((_, other) => other !== at);
    }
    await world.runUntil(world.now + 20_000);
    const [{ storage }] = tabs as [Opened];
    const parts = await world.hearInTurns(storage.loadRange(['letter']));
    const found = new Set(parts.flatMap(({ data }) => [...(data ?? [])]));
    expect([seed, [...saved].filter((change) => !found.has(change))]).toEqual([seed, []]);
  }
});
