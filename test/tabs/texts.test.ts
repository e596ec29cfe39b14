import { expect, test } from 'vitest';
import type { TabScope } from './page/page.ts';
import { browserOfTests, openBrowser, type Tab } from './tabs.ts';

declare const window: TabScope;

const browser = browserOfTests(openBrowser);

/** A tab that has opened a text, as a person of this name. */
async function open(person: string): Promise<Tab> {
  const tab = await browser.tab('connect', browser.name);
  await tab.evaluate(async (own) => {
    const { Awareness, Doc, keepDoc } = await window.loadYjs();
    const doc = new Doc();
    const texts = new window.db.Collection({
      name: 'texts',
      type: 'DOCUMENT_BASED',
      indexes: ['doc'],
    });
    const awareness = new Awareness(doc);
    awareness.setLocalStateField('name', own);
    window.kept = keepDoc(texts, doc, { name: 'letter', awareness });
    window.texts = texts;
    window.text = doc.getText();
    window.awareness = awareness;
    await window.kept.ready;
  }, person);
  return tab;
}

const read = (tab: Tab) => tab.evaluate(() => window.text.toString() as string);
const people = (tab: Tab) =>
  tab.evaluate(() =>
    [...window.awareness.getStates().values()].map((state) => state.name as string).sort(),
  );

test('two tabs edit one text, and see who is there', async () => {
  const [ada, bo] = [await open('Ada'), await open('Bo')];
  await expect.poll(() => people(ada)).toEqual(['Ada', 'Bo']);
  await expect.poll(() => people(bo)).toEqual(['Ada', 'Bo']);
  await Promise.all([
    ada.evaluate(() => {
      for (let n = 0; n < 50; n++) window.text.insert(0, 'a');
    }),
    bo.evaluate(() => {
      for (let n = 0; n < 50; n++) window.text.insert(window.text.length, 'b');
    }),
  ]);
  await expect.poll(() => read(ada)).toMatch(/^[ab]{100}$/);
  await expect.poll(() => read(bo)).toBe(await read(ada));
  await bo.close({ runBeforeUnload: true });
  await expect.poll(() => people(ada)).toEqual(['Ada']);
});

test('edits just before a tab reloads, or navigates away, are there afterwards', async () => {
  const ada = await open('Ada');
  await ada.evaluate(() => {
    window.text.insert(0, 'last word');
    location.reload();
  });
  await ada.waitForFunction(() => 'connect' in window && !('kept' in window));
  const bo = await open('Bo');
  await expect.poll(() => read(bo)).toBe('last word');
  const rows = () => bo.evaluate(() => window.texts.count() as Promise<number>);
  expect(await rows()).toBe(1);
  await (await open('Cy')).close();
  expect(await rows()).toBe(1);
});

test('when the tab that leads closes, the other goes on with all of the text', async () => {
  const [ada, bo] = [await open('Ada'), await open('Bo')];
  await ada.evaluate(() => window.text.insert(0, 'one '));
  await expect.poll(() => read(bo)).toBe('one ');
  await ada.close();
  await bo.evaluate(() => window.text.insert(4, 'two'));
  await bo.evaluate(() => window.kept.save());
  await bo.close();
  expect(await read(await open('Cy'))).toBe('one two');
});
