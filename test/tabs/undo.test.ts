import { expect, test } from 'vitest';
import type { TabScope } from './page/page.ts';
import { browserOfTests, openBrowser, type Tab } from './tabs.ts';

declare const window: TabScope;

const browser = browserOfTests(openBrowser);

/** Opens the shapes of a tab, with a history, and notes what a watch of them hears. */
async function begin(tab: Tab): Promise<void> {
  await tab.evaluate(async () => {
    const { undo } = await window.loadUndo();
    const shapes = new window.db.Collection<{ x: number; y: number }>({
      name: 'shapes',
      type: 'DOCUMENT_BASED',
    });
    await shapes.ready;
    window.shapes = shapes;
    window.history_ = undo(window.db, { collections: [shapes] });
    window.heard = [];
    const note = (call: string) => (shape: { _id: string; x: number; y: number }) =>
      void window.heard.push(`${call} ${shape._id} ${shape.x} ${shape.y}`);
    await new Promise<void>((resolve) => {
      shapes.watch({}, { enter: note('enter'), update: note('update'), exit: note('exit') });
      resolve();
    });
  });
}

const patch = (tab: Tab, id: string, change: object) =>
  tab.evaluate(([of, to]) => window.shapes.patch(of, to), [id, change] as const);
const undo = (tab: Tab) => tab.evaluate(() => window.history_.undo());
const redo = (tab: Tab) => tab.evaluate(() => window.history_.redo());
const shape = (tab: Tab) => tab.evaluate(() => window.shapes.get('a'));
const heard = (tab: Tab) => tab.evaluate(() => window.heard as string[]);

test('two tabs take back their own changes, while the tab that leads reloads, and each hears once', async () => {
  const leader = await browser.tab('connect', 'undo');
  await leader.waitForFunction(() => window.db.status.leader);
  const [ada, bo] = [await browser.tab('connect', 'undo'), await browser.tab('connect', 'undo')];
  await begin(ada);
  await begin(bo);
  await ada.evaluate(() => window.shapes.insert({ _id: 'a', x: 0, y: 0 }));
  await patch(ada, 'a', { x: 1 });
  await patch(bo, 'a', { y: 1 });
  await patch(ada, 'a', { x: 2 });
  await leader.evaluate(() => location.reload());
  // The other's change stays, and another tab leads by now.
  expect(await undo(ada)).toMatchObject({ changed: 1, skipped: [] });
  expect(await shape(bo)).toMatchObject({ x: 1, y: 1 });
  await expect.poll(() => leads(ada, bo)).toBe(1);
  expect(await undo(bo)).toMatchObject({ changed: 1, skipped: [] });
  expect(await shape(ada)).toMatchObject({ x: 1, y: 0 });
  expect(await redo(ada)).toMatchObject({ changed: 1, skipped: [] });
  expect(await shape(bo)).toMatchObject({ x: 2, y: 0 });
  // The insert is no step of the one who changed a field of it.
  await patch(bo, 'a', { x: 5 });
  expect(await undo(ada)).toMatchObject({ changed: 0, skipped: [{ id: 'a', reason: 'changed' }] });
  const states = ['a 0 0', 'a 1 0', 'a 1 1', 'a 2 1', 'a 1 1', 'a 1 0', 'a 2 0', 'a 5 0'];
  for (const tab of [ada, bo]) {
    await expect.poll(async () => (await heard(tab)).at(-1)).toBe('update a 5 0');
    const all = await heard(tab);
    // A listener may hear of two changes at once, but never of one twice, nor of one that was none.
    expect(states).toEqual(expect.arrayContaining(all.map((call) => call.replace(/^\w+ /, ''))));
    expect(all.filter((call, at) => call === all[at - 1])).toEqual([]);
    expect(all.filter((call) => call.startsWith('enter'))).toHaveLength(1);
  }
});

/** How many of these tabs lead. */
async function leads(...tabs: Tab[]): Promise<number> {
  const all = await Promise.all(tabs.map((tab) => tab.evaluate(() => window.db.status.leader)));
  return all.filter((one) => one).length;
}
