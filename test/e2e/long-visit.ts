import type { Locator } from 'playwright-core';
import { expect, vi } from 'vitest';
import { ALL, PATIENCE, type Playground } from './open-playground.ts';

/** Names the next step, when all earlier ones are painted. */
type Say = (step: string) => Promise<void>;

type Visit = (site: Playground, say: Say) => Promise<void>;

/** Not `expect.poll`: it does not know its test while two run concurrently. */
const has = (read: () => Promise<string>, text: string | RegExp) =>
  vi.waitFor(async () => expect(await read()).toMatch(text), PATIENCE);

const counts = (items: Locator, count: number) =>
  vi.waitFor(async () => expect(await items.count()).toBe(count), PATIENCE);

const textFile = (name: string, content: string) => ({
  name,
  mimeType: 'text/plain',
  buffer: Buffer.from(content),
});

/** All actions of a visitor and all events, panel by panel. */
export const LONG_VISIT: Readonly<Record<string, Visit>> = {
  async Start({ page, part }, say) {
    await say('loading');
    await page.getByRole('button', { name: /^Load/ }).click();
    await has(() => part('rate').innerText(), /\d/);
    await say('stopping');
    await page.getByRole('button', { name: 'Cancel' }).click();
    await has(() => part('import-text').innerText(), 'stopped');
    await say('loading the rest');
    await page.getByRole('button', { name: 'Load the rest' }).click();
    await has(() => part('import-text').innerText(), 'saved in');
    await has(() => part('documents').innerText(), ALL);
    const map = page.getByRole('application');
    const { width = 0, height = 0 } = (await map.boundingBox()) ?? {};
    for (const [x, y, found] of [
      [0.52, 0.23, /[\d,]{6} of/],
      [0.1, 0.9, /^\s*0 of/],
      [0.8, 0.3, /[\d,]{5} of/],
    ] as const) {
      await say(`the lens at ${x}, ${y}`);
      await map.hover({ position: { x: width * x, y: height * y } });
      await has(() => page.locator('.sight').innerText(), found);
    }
    await say('other colours');
    await page.getByRole('button', { name: 'Colours' }).click();
    await page.getByRole('button', { name: 'Colours' }).click();
    await page.getByRole('button', { name: 'Colours' }).click();
    await say('copying');
    await page.getByRole('button', { name: 'Copy' }).first().click();
  },

  async Data({ page, part }, say) {
    const count = () => part('count').innerText();
    const done = () => part('last-done').innerText();
    const row = (number: number) => page.locator(`[aria-rowindex="${number}"]`);
    const press = (name: string) => page.getByRole('button', { name, exact: true }).click();
    const search = (text: string) => page.getByRole('searchbox').fill(text);
    const show = (name: string) => page.locator('.segmented').getByText(name, { exact: true });
    const open = (name: string, content: string) =>
      page.getByLabel('A file of JSON').setInputFiles(textFile(name, content));

    await has(count, ALL);
    await say('scrolling');
    await page.locator('.grid').hover();
    for (let turn = 0; turn < 12; turn++) await page.mouse.wheel(0, 700);
    await say('scrolling far');
    await page.mouse.wheel(0, 900_000);
    await page.mouse.wheel(200, 0);
    await page.mouse.wheel(-200, 0);
    await say('searching');
    await page.getByRole('searchbox').pressSequentially('reykja');
    await has(count, /^2 cities/);
    await say('searching for what is not there');
    await search('qqqqqq');
    await has(count, /^0 cities/);
    await search('');
    await has(count, ALL);
    for (const first of [/Shanghai/, /^(?![\s\S]*Shanghai)/, /El Tarter/]) {
      await say(`sorting: ${first}`);
      await press('Population');
      await has(() => row(2).innerText(), first);
    }
    await say('going to the end by a key');
    await page.getByRole('gridcell', { name: 'El Tarter', exact: true }).click();
    await page.keyboard.press('Control+End');
    await has(() => row(135_234).innerText(), 'Zimbabwe');
    await page.keyboard.press('Control+Home');
    await search('Reykjavík');
    await has(count, /^1 city/);
    await say('editing');
    await row(2).locator('[aria-colindex="3"]').dblclick();
    const field = page.getByRole('textbox', { name: 'Population' });
    await say('editing wrongly');
    await field.fill('many');
    await page.keyboard.press('Enter');
    await has(() => page.locator('.cell-problem').innerText(), 'be a number');
    await say('mending it');
    await field.fill('7');
    await page.keyboard.press('Enter');
    await has(done, 'changed');
    await say('taking it back');
    await press('Undo');
    await has(() => row(2).innerText(), '118,918');
    await say('archiving');
    await press('Archive Reykjavík');
    await has(count, /^0 cities/);
    await show('Archived').click();
    await press('Unarchive Reykjavík');
    await has(done, 'unarchived');
    await show('Active').click();
    await say('an empty table');
    await show('Orders').click();
    await say('filling it');
    await press('Fill the shop');
    await has(count, '10,000 orders');
    await has(() => part('import-strip').innerText(), 'saved in');
    await say('sorting by names of others');
    await press('Customer');
    await has(() => row(2).innerText(), 'Ada Abara');
    for (const name of ['Customers', 'Products', 'Cities', 'Orders']) {
      await say(`showing ${name}`);
      await show(name).click();
      await has(count, new RegExp(name, 'i'));
    }
    await say('a file that cannot be read');
    await open('broken.json', '[{ "name": ');
    await has(() => part('import-strip').innerText(), 'is not JSON');
    await say('a file of CSV');
    await open('peaks.csv', 'name,height,climbed\nRysy,2499,true\nGalan,1100,false\n');
    await has(count, /^2 rows/);
    await say('a file with a long name');
    await open('lakes of the Balkans, by depth.json', '[{ "name": "Ohrid", "depth": 288 }]');
    await has(count, /^1 row/);
    await say('dropping it');
    await press('Empty…');
    await press('Drop everything');
    await has(done, 'dropped');
    await say('dropping the orders');
    await show('Orders').click();
    await has(count, '10,000');
    await press('Empty…');
    await press('Drop everything');
    await has(done, 'Orders dropped');
    await say('bringing them back');
    await press('Undo');
    await has(count, '10,000 orders');
  },

  async Query({ page, part }, say) {
    const plan = () => part('plan').innerText();
    const answered = (text: string | RegExp) => has(() => part('found').innerText(), text);
    await answered(/^90 cities/);
    for (const [path, told] of [
      ['country', /Index country/],
      ['population', /Index/],
      ['country', /Index population/],
      ['population', /Scan/],
    ] as const) {
      await say(`switching ${path}: ${told}`);
      await page.getByRole('switch', { name: path }).click();
      await has(plan, told);
    }
    for (const [example, found] of [
      ['Capitals of the south', /^56 cities/],
      ['Names that begin with Saint', /^164 cities/],
      ['Small and Nordic', /^165 cities/],
      ['Either of two', /^9 cities/],
      ['Palindromes, by a function', /^At least/],
      ['Large cities of Spain', /^90 cities/],
    ] as const) {
      await say(`asking for ${example}`);
      await page.getByRole('button', { name: example }).click();
      await answered(found);
    }
    for (const [text, problem] of [
      ["{ $or: [{ name: 'Rome' }, { population: { $gtt: 5 } }] }", '$gtt'],
      ['{ population: ', 'not valid yet'],
      ['(city) => city.mayor.name', 'threw'],
      ['{ name: "Nowhere at all" }', /^$/],
    ] as const) {
      await say(`asking ${text}`);
      await page.getByRole('textbox', { name: 'Criteria, a pipeline or a function' }).focus();
      await page.keyboard.press('Control+a');
      await page.keyboard.insertText(text);
      await page.keyboard.press('Control+Enter');
      await has(() => page.locator('#query-problem').innerText(), problem);
    }
    await answered(/^0 cities/);
    await say('another collection');
    await page.getByRole('combobox', { name: 'Collection' }).selectOption('products');
    await answered('240 products');
    await say('another order');
    await page.getByRole('combobox', { name: 'Sorted' }).selectOption('price');
    await has(plan, 'Sorted by price');
  },

  async Search({ page, part }, say) {
    const hits = () => part('search').innerText();
    const search = (text: string) => page.getByRole('searchbox').fill(text);
    await has(hits, /Search \d+ sections/);
    await has(hits, /encrypted/i);
    await say('searching');
    await search('');
    await page.getByRole('searchbox').pressSequentially('service wor');
    await has(hits, /service worker/i);
    await say('searching for what is not there');
    await search('qqqqqq');
    await has(hits, 'No section');
  },

  async Dashboard({ page, part }, say) {
    if (await part('fill-shop').isVisible()) {
      await say('filling the shop');
      await part('fill-shop').click();
    }
    await counts(part('open-orders').getByRole('listitem'), 8);
    await say('sending');
    await page
      .getByRole('button', { name: /^Send order/ })
      .first()
      .click();
    await has(() => part('months').innerText(), /Oct 2026/);
  },

  async Backups({ page, part }, say) {
    const news = () => part('backup-news').innerText();
    const press = (name: string) => page.getByRole('button', { name, exact: true }).click();
    await say('choosing a collection');
    await page.getByRole('combobox', { name: 'Collection' }).selectOption('products');
    const labels = ['one', 'two, of a longer name than others have', 'three', 'four'];
    for (const [number, label] of labels.entries()) {
      await say(`making ${label}`);
      await page.getByRole('textbox', { name: 'Label' }).fill(label);
      await press('Create a backup');
      await counts(part('backup'), number + 1);
    }
    await say('deleting documents');
    await press('Delete every second document');
    await has(news, '120 documents');
    for (const label of ['three', 'one']) {
      await say(`comparing ${label}`);
      await press(`Compare ${label}`);
      await has(() => part('backup').filter({ hasText: label }).innerText(), /removed\s+120/);
    }
    await say('writing a file');
    await press('Download one');
    await has(news, 'Downloaded');
    await say('restoring');
    await press('Restore three');
    await has(news, 'Restored');
    await counts(part('backup'), 5);
    await say('a file that is none');
    await page.getByLabel('Backup file').setInputFiles(textFile('none.gz', 'none'));
    await has(() => page.locator('.status-text .problem').innerText(), 'gzip');
    await say('deleting one');
    await press('Delete… four');
    await page.locator('dialog[open]').getByRole('button', { name: 'Delete it' }).click();
    await counts(part('backup'), 4);
    await say('another collection');
    await page.getByRole('combobox', { name: 'Collection' }).selectOption('cities');
    const others = part('backup').filter({ hasText: 'three' });
    await counts(others, 0);
  },

  async Storage({ page, part }, say) {
    await has(() => part('usage').innerText(), 'MB');
    await has(() => part('size-orders').innerText(), 'B');
    await say('asking to keep it');
    await page.getByRole('button', { name: 'Ask the browser' }).click();
    await has(() => page.locator('.storage-keep').innerText(), /Granted|Denied/);
  },

  async Durability({ page, part }, say) {
    const recovered = (count: string) => has(() => part('recovered').innerText(), `${count} of`);
    await has(() => part('unsaved').innerText(), '0');
    for (const [choice, saved] of [
      ['One', /with 1 change /],
      ['20,000', /with 20,001 changes/],
    ] as const) {
      await say(`writing ${choice}`);
      await page.getByText(choice, { exact: true }).click();
      await page.getByRole('button', { name: 'Only write' }).click();
      await has(() => page.locator('.pulse-sum').innerText(), saved);
    }
    await say('a tab that closes at once');
    await page.getByText('500', { exact: true }).click();
    await page.getByRole('button', { name: 'Write in a tab' }).click();
    await recovered('500');
    await say('a reload at once');
    await page.getByText('One', { exact: true }).click();
    await page.getByRole('button', { name: 'Write and reload at once' }).click();
    await recovered('1');
  },

  async Tabs({ page, part, browser }, say) {
    const stones = (count: number) => has(() => part('stones').innerText(), String(count));
    const events = (count: number) => counts(part('events').getByRole('listitem'), count);
    await events(1);
    await say('laying stones');
    for (let stone = 0; stone < 50; stone++) {
      await page.getByRole('button', { name: 'Lay a stone' }).click();
    }
    await stones(50);
    await say('another tab');
    const coming = browser.context.waitForEvent('page');
    await page.getByRole('link', { name: 'Open another tab' }).click();
    const second = await coming;
    await expect
      .poll(() => second.locator('[data-part="leader"]').innerText(), PATIENCE)
      .toBe('Another tab');
    await page.bringToFront();
    await say('a note from it');
    await second.getByLabel('First note').fill('from the other');
    await has(() => page.getByLabel('First note').inputValue(), 'other');
    await say('a crash');
    await page.getByRole('button', { name: 'Crash the worker' }).click();
    await events(2);
    await say('a crash that the other brings about');
    await second.getByRole('button', { name: 'Terminate it silently' }).click();
    await events(3);
    await stones(52);
    await second.close();
    await say('closing this tab');
    await page.getByRole('button', { name: 'Close this tab' }).click();
    await has(() => page.locator('.this-tab').innerText(), 'Close or reload it');
  },

  async Transactions({ page, part }, say) {
    const press = (name: string) => page.getByRole('button', { name }).first().click();
    const frame = page.frameLocator('iframe');
    const shop = (name: string, text: string) => has(() => part(name).innerText(), text);
    const rush = async () => {
      await press('Start over');
      await shop('ordered', '0');
      await press('Place 20 orders');
      await shop('ordered', '40');
    };
    await shop('stock', '150');
    await say('an order');
    await press('Place order');
    await shop('stock', '149');
    await say('an order of the frame');
    await frame.getByRole('button', { name: 'Place order' }).click();
    await shop('stock', '148');
    await say('orders of both at once');
    await rush();
    await say('orders without transactions');
    await page.getByText('Without', { exact: true }).click();
    await rush();
  },

  async Sync({ page, part }, say) {
    const edit = async (label: string, text: string) => {
      await page.getByLabel(label, { exact: true }).fill(text);
      await page.getByLabel(label, { exact: true }).press('Enter');
    };
    const laptop = page.getByRole('switch', { name: 'Laptop online' });
    await has(() => part('stored').innerText(), '3');
    await has(() => part('laptop-state').innerText(), 'In sync');
    await say('a new item');
    await page.getByLabel('New item, Phone').fill('Tea');
    await page.getByLabel('New item, Phone').press('Enter');
    await has(() => part('stored').innerText(), '4');
    await page.getByLabel('Title of Tea, Laptop').waitFor();
    await say('taking a device offline');
    await laptop.click();
    await has(() => part('laptop-state').innerText(), 'Offline');
    await say('changing on both');
    await edit('Amount of Bread, Phone', '3');
    await edit('Amount of Bread, Laptop', '7');
    await edit('Note of Milk, Laptop', 'a long note that hardly fits into its line');
    await edit('Amount of Milk, Phone', '12');
    await page.getByRole('button', { name: 'Delete Apples, Phone' }).click();
    await edit('Note of Apples, Laptop', 'red');
    await has(() => part('laptop-pending').innerText(), '3 items');
    await has(() => part('stored').innerText(), '3'); // without the apples, with the tea
    for (const text of ['Bread × 3', 'Milk × 12'])
      await has(() => page.locator('.server-rows').innerText(), text);
    await say('merging');
    await laptop.click();
    await has(() => part('laptop-state').innerText(), 'In sync');
    await say('deciding otherwise');
    await page.getByText('Laptop: 7').click();
    await has(() => page.getByLabel('Amount of Bread, Phone').inputValue(), '7');
    await page.getByText('Server: deleted').click();
    await counts(page.locator('[data-device="phone"] .item-list > li'), 3);
    await say('starting over');
    await page.getByRole('button', { name: 'Start over' }).click();
    await has(() => page.getByLabel('Amount of Bread, Laptop').inputValue(), '1');
    await say('counting on both, and a photo');
    for (const device of ['Phone', 'Laptop'])
      await page.getByRole('button', { name: `One more Milk, ${device}` }).click();
    await has(() => page.getByLabel('Amount of Milk, Laptop').inputValue(), '4');
    const buffer = await page.screenshot({ clip: { x: 0, y: 0, width: 64, height: 64 } });
    const photo = { name: 'milk.png', mimeType: 'image/png', buffer };
    await page.getByLabel('Photo of Milk, Phone').setInputFiles(photo);
    await counts(page.locator('[data-device="laptop"] .item-photo img'), 1);
    await say('looking at a part');
    const laptopItems = page.locator('[data-device="laptop"] .item-list > li');
    await page.locator('[data-device="laptop"]').getByText('Market only').click();
    await counts(laptopItems, 2);
    await page.locator('[data-device="laptop"]').getByText('Both shops').click();
    await counts(laptopItems, 3);
  },

  async Speed({ page, part }, say) {
    await say('racing');
    await page.getByText('1,000', { exact: true }).click();
    await page.getByText('Once', { exact: true }).click();
    await page.getByRole('button', { name: 'Run' }).click();
    await has(() => part('racing').innerText(), 'Shorter is better.');
  },
};
