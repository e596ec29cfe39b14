import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Child, removeFolder } from '../../../tools/browsers/child.mjs';
import { launchChromium } from '../../../tools/browsers/chromium.mjs';
import { userEnvironment } from '../tarball.ts';
import { builtExample } from './build-example.ts';

/** Of a photo, in pixels. */
const SIZE = 64;

let folder: string;
let example: Child;
let origin: string;
let browsers: Awaited<ReturnType<typeof launchChromium>>[] = [];
let ada: Page;
let ben: Page;
let office: Page;
const problems: string[] = [];

beforeAll(async () => {
  folder = await builtExample('sync-postgres');
  const { DATABASE_URL: _, ...environment } = userEnvironment();
  // Without the installation, which needs a network, and the build, which is there.
  const args = ['--prefix', folder, 'start', '--ignore-scripts'];
  example = new Child('npm', args, { ...environment, PORT: '0', BROWSER: 'none' });
  const [, ...urls] = await example.waitFor(/(http:\S+)\s+(http:\S+)\s+(http:\S+)/, 60_000);
  origin = new URL(urls[0] as string).origin;
  browsers = await Promise.all(urls.map(() => launchChromium()));
  const pages = await Promise.all(
    browsers.map((browser, index) => browser.newPage(urls[index] as string)),
  );
  for (const page of pages) {
    page.on('pageerror', (error) => problems.push(String(error)));
    // The files of the app are here: from now on it needs no network.
    await page.waitForFunction(() => navigator.serviceWorker.controller !== null);
  }
  [ada, ben, office] = pages as [Page, Page, Page];
});

afterAll(async () => {
  for (const browser of browsers) await browser.close();
  // Not killed: it stops the PostgreSQL that it has started.
  example?.kill('SIGTERM');
  await example?.exited;
  if (folder) removeFolder(folder);
});

const card = (page: Page, name: string) => page.getByRole('article', { name });
const titles = (page: Page) => page.locator('article h2').allInnerTexts();
const status = (page: Page) => page.getByRole('status').innerText();
const setOffline = (page: Page, isOffline: boolean) => page.context().setOffline(isOffline);
const button = (page: Page, name: string, text: string) =>
  card(page, name).getByRole('button', { name: text });

/** A request of the outside, as any program could send it. */
const send = (path: string, user: string, body: object, headers = {}) =>
  fetch(origin + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${user}`, 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });

/** A field of what the server gives a user; its status, if it refuses. */
async function pull(user: string, collection: string, field: string, scope?: object) {
  const answer = await send(`/sync/${collection}/pull`, user, { after: null, limit: 10, scope });
  if (!answer.ok) return answer.status;
  const { changes } = await answer.json();
  return changes.flatMap((change: Change) => change.document?.[field] ?? []);
}

interface Change {
  readonly document?: Readonly<Record<string, unknown>> | null;
}

test('the example starts with one command, and each user has what belongs to him', async () => {
  await expect.poll(() => titles(ada)).toEqual(['Heating makes noise']);
  await expect.poll(() => titles(ben)).toEqual(['Boiler leaks']);
  await expect.poll(() => titles(office)).toEqual(['Boiler leaks', 'Heating makes noise']);
  await expect.poll(() => card(ada, 'Heating').innerText()).toContain('12 Mill Lane');
});

test('two people who tick different items of a checklist lose no tick', async () => {
  await setOffline(ada, true);
  await card(ada, 'Heating').getByLabel('Check the pump').click();
  await card(office, 'Heating').getByLabel('Bleed the radiators').click();
  await expect.poll(() => status(ada)).toContain('1 to send');
  await setOffline(ada, false);
  for (const page of [ada, office])
    for (const text of ['Check the pump', 'Bleed the radiators'])
      await expect.poll(() => card(page, 'Heating').getByLabel(text).isChecked()).toBe(true);
});

test('two devices that take from the stock offline are both counted', async () => {
  for (const page of [ada, ben]) await setOffline(page, true);
  for (const page of [ada, ben]) await button(page, 'Pump', 'Take one').click();
  for (const page of [ada, ben])
    await expect.poll(() => card(page, 'Pump').innerText()).toContain('3 left');
  for (const page of [ada, ben]) await setOffline(page, false);
  for (const page of [ada, ben, office])
    await expect.poll(() => card(page, 'Pump').innerText()).toContain('2 left');
});

test('a note that two wrote is a conflict, and a click decides it otherwise', async () => {
  const note = (page: Page) => card(page, 'Heating').getByLabel('Note');
  await setOffline(ada, true);
  await note(ada).fill('Knocks in the morning');
  await note(ada).press('Enter');
  await note(office).fill('Call first');
  await note(office).press('Enter');
  await expect.poll(() => pull('office', 'jobs', 'note')).toContain('Call first');
  await setOffline(ada, false);
  await expect.poll(() => note(ada).inputValue()).toBe('Call first');
  await ada.getByRole('button', { name: 'Take mine' }).click();
  for (const page of [ada, office])
    await expect.poll(() => note(page).inputValue()).toBe('Knocks in the morning');
});

test('a photo that was taken offline reaches the office', async () => {
  await setOffline(ada, true);
  await button(ada, 'Heating', 'Arrive').click();
  const photo = { name: 'pump.png', mimeType: 'image/png', buffer: await picture(ada) };
  await card(ada, 'Heating').getByLabel('Add a photo').setInputFiles(photo);
  await card(ada, 'Heating').getByRole('img').waitFor();
  await setOffline(ada, false);
  await card(office, 'Heating').getByText('Visits').click();
  await expect.poll(() => photoWidths(office)).toEqual([SIZE]);
});

test('an app that was open once opens without a network, with its data', async () => {
  await expect.poll(() => status(ada)).toBe('Online');
  await setOffline(ada, true);
  await ada.reload();
  await expect.poll(() => photoWidths(ada)).toEqual([SIZE]);
  await expect.poll(() => status(ada)).toContain('Offline');
  await setOffline(ada, false);
});

test('an order waits for the network and is sent once; one that is refused is undone', async () => {
  const text = () => card(ben, 'Seal').innerText();
  await setOffline(ben, true);
  await button(ben, 'Seal', 'Order').click();
  await expect.poll(text).toContain('10 ordered');
  await setOffline(ben, false);
  await card(ben, 'Seal').getByLabel('Count').fill('500');
  await button(ben, 'Seal', 'Order').click();
  await expect.poll(() => ben.getByRole('alert').innerText()).toContain('at most 50');
  await expect.poll(text).toMatch(/, 10 ordered/);

  const order = { part: 'seal', count: 5 };
  const key = { 'idempotency-key': 'once' };
  for (let attempt = 1; attempt <= 2; attempt++)
    expect(await (await send('/orders', 'ben', order, key)).json()).toEqual({ ordered: 15 });
});

test('a job that the office gives to another leaves one device and comes to the other', async () => {
  await card(office, 'Heating').getByLabel('Technician').selectOption('ben');
  await expect.poll(() => titles(ada)).toEqual([]);
  await expect.poll(() => titles(ben)).toEqual(['Boiler leaks', 'Heating makes noise']);
});

test('the visits of others at a customer come when a technician looks at them', async () => {
  await card(ben, 'Heating').getByText('Visits').click();
  await expect.poll(() => photoWidths(ben)).toEqual([SIZE]);
});

test('nobody reads or writes what is not his', async () => {
  expect(await pull('nobody', 'jobs', 'title')).toBe(401);
  expect(await pull('ada', 'orders', 'title')).toBe(403);
  expect(await pull('ada', 'jobs', 'title')).toEqual([]);
  expect(await pull('ada', 'jobs', 'title', { technician: 'ben' })).toEqual([]);
  expect(await pull('ben', 'jobs', 'title')).toEqual(['Boiler leaks', 'Heating makes noise']);
  const row = { id: 'miller', base: null, key: 'a.1', document: { _id: 'miller', name: 'Mine' } };
  const { results } = await (await send('/sync/customers/push', 'ada', { rows: [row] })).json();
  expect(results).toEqual([{ rejected: expect.anything() }]);
  expect(problems).toEqual([]);
});

function photoWidths(page: Page): Promise<number[]> {
  return page
    .getByRole('img')
    .evaluateAll((images) => images.map((image) => (image as HTMLImageElement).naturalWidth));
}

/** A PNG, as a camera makes it. */
const picture = (page: Page) =>
  page.screenshot({ clip: { x: 0, y: 0, width: SIZE, height: SIZE } });
