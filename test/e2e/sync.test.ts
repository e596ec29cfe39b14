import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openPlayground, PATIENCE, type Playground, runs } from './open-playground.ts';

/** Runs in the page: records what the devices say of their state, from the first time on. */
function recordStates(): void {
  const states: string[] = [];
  Object.assign(globalThis, { states });
  new MutationObserver(() => {
    for (const { textContent } of document.querySelectorAll('[data-device] [data-part$="-state"]'))
      if (textContent && !states.includes(textContent)) states.push(textContent);
  }).observe(document, { subtree: true, childList: true, characterData: true });
}

describe.runIf(runs('chromium'))('sync', () => {
  let site: Playground;

  const device = (name: string) => site.page.locator(`[data-device="${name.toLowerCase()}"]`);
  const field = (name: string, label: string) => device(name).getByLabel(label);
  const shows = (name: string, label: string, value: string) =>
    expect.poll(() => field(name, label).inputValue(), PATIENCE).toBe(value);
  const showsPart = (name: string, text: string | RegExp) =>
    expect.poll(() => site.part(name).innerText(), PATIENCE).toMatch(text);
  const items = (name: string, count: number) =>
    expect.poll(() => device(name).locator('.item-list > li').count(), PATIENCE).toBe(count);
  /** What comes first to the server wins: a device that has nothing to push may not know yet. */
  const serverHas = (text: string) =>
    expect.poll(() => site.page.locator('.server-rows').innerText(), PATIENCE).toContain(text);
  const merge = (text: string) =>
    site.part('merges').getByRole('listitem').filter({ hasText: text });

  /** Edits a field as a visitor does. */
  async function edit(name: string, label: string, value: string): Promise<void> {
    await field(name, label).fill(value);
    await field(name, label).press('Enter');
  }

  /** Presses the switch, and waits until the device shows its state. */
  async function setLaptop(isOnline: boolean): Promise<void> {
    await site.page.getByRole('switch', { name: 'Laptop online' }).setChecked(isOnline);
    await showsPart('laptop-state', isOnline ? 'In sync' : 'Offline');
  }

  beforeAll(async () => {
    site = await openPlayground();
    await site.page.evaluate(recordStates);
    await site.openPanel('Sync');
  });

  afterAll(() => site?.close());

  test('devices that open say so: no other tab works for them', async () => {
    for (const name of ['phone', 'laptop']) await showsPart(`${name}-state`, 'In sync');
    const states: string[] = await site.page.evaluate('states');
    expect(states).toContain('In sync');
    for (const state of states) expect(state).toMatch(/^(Opening|Pulling|Pushing|In sync)$/);
  });

  test('what one device inserts, changes and deletes reaches the server and the other', async () => {
    await items('Laptop', 3);
    await edit('Phone', 'Note of Milk', 'soy');
    await shows('Laptop', 'Note of Milk', 'soy');
    await device('Laptop').getByLabel('New item').fill('Tea');
    await device('Laptop').getByRole('button', { name: 'Add' }).click();
    await items('Phone', 4);
    await showsPart('stored', '4');
    await device('Phone').getByRole('button', { name: 'Delete Tea' }).click();
    await items('Laptop', 3);
    await showsPart('stored', '3');
  });

  test('an offline device goes on, and what both changed is merged field by field', async () => {
    await setLaptop(false);
    await edit('Laptop', 'Amount of Milk', '4');
    await edit('Phone', 'Note of Milk', 'almond');
    await showsPart('laptop-pending', '1 item');
    await serverHas('almond');
    expect(await field('Laptop', 'Note of Milk').inputValue()).toBe('soy');
    await setLaptop(true);
    for (const name of ['Phone', 'Laptop']) {
      await shows(name, 'Amount of Milk', '4');
      await shows(name, 'Note of Milk', 'almond');
    }
    await showsPart('laptop-pending', '0 items');
    await expect.poll(() => merge('Amount of Milk').innerText()).toContain('Laptop: 4, unchanged');
    expect(await merge('Note of Milk').innerText()).toContain('Server: almond, unchanged');
  });

  test('of two values for one field the server’s wins, until a visitor decides otherwise', async () => {
    const doneSteps = site.page.locator('.story [data-done="true"]');
    await setLaptop(false);
    await edit('Phone', 'Amount of Bread', '3');
    await edit('Laptop', 'Amount of Bread', '7');
    await serverHas('Bread × 3');
    await expect.poll(() => doneSteps.count()).toBe(2);
    await setLaptop(true);
    const [server, laptop] = ['Server: 3', 'Laptop: 7'].map((name) =>
      merge('Amount of Bread').getByRole('radio', { name }),
    );
    await expect.poll(() => server?.isChecked(), PATIENCE).toBe(true);
    for (const name of ['Phone', 'Laptop']) await shows(name, 'Amount of Bread', '3');
    await expect.poll(() => doneSteps.count()).toBe(3);
    await site.screenshot('sync-conflict');

    await merge('Amount of Bread').getByText('Laptop: 7').click();
    for (const name of ['Phone', 'Laptop']) await shows(name, 'Amount of Bread', '7');
    await expect.poll(() => laptop?.isChecked(), PATIENCE).toBe(true);
  });

  test('an item that one deletes and the other changes stays, until a visitor decides otherwise', async () => {
    await setLaptop(false);
    await device('Phone').getByRole('button', { name: 'Delete Apples' }).click();
    await edit('Laptop', 'Note of Apples', 'red');
    await showsPart('stored', '2');
    await setLaptop(true);
    await items('Phone', 3);
    await shows('Phone', 'Note of Apples', 'red');
    await merge('Apples').getByText('Server: deleted').click();
    await items('Phone', 2);
    await items('Laptop', 2);
  });

  test('what both devices count is counted, offline too', async () => {
    const count = (name: string) =>
      device(name).getByRole('button', { name: 'One more Bread' }).click();
    const [laptop, phone] = ['Laptop', 'Phone'];
    await setLaptop(false);
    await count(phone);
    await count(phone);
    await count(laptop);
    await serverHas('Bread × 9');
    await shows(laptop, 'Amount of Bread', '8');
    await setLaptop(true);
    for (const name of [laptop, phone]) await shows(name, 'Amount of Bread', '10');
  });

  test('a photo that one device adds is shown by the other', async () => {
    const buffer = await site.page.screenshot({ clip: { x: 0, y: 0, width: 64, height: 64 } });
    const photo = { name: 'milk.png', mimeType: 'image/png', buffer };
    await device('Phone').getByLabel('Photo of Milk').setInputFiles(photo);
    const image = device('Laptop').getByRole('img', { name: 'Milk' });
    await expect
      .poll(() => image.evaluate((shown: HTMLImageElement) => shown.naturalWidth), PATIENCE)
      .toBe(64);
  });

  test('what a device no longer looks at leaves it, and comes back', async () => {
    await device('Laptop').getByText('Market only').click();
    await items('Laptop', 1);
    await items('Phone', 2);
    await showsPart('stored', '2');
    await device('Laptop').getByText('Both shops').click();
    await items('Laptop', 2);
  });

  test('starting over gives two new devices and a new server', async () => {
    await site.page.getByRole('button', { name: 'Start over' }).click();
    await expect.poll(() => site.part('merges').innerText(), PATIENCE).toMatch(/^Nothing yet/);
    for (const name of ['Phone', 'Laptop']) await items(name, 3);
    await shows('Laptop', 'Amount of Bread', '1');
    await edit('Laptop', 'Amount of Bread', '2');
    await shows('Phone', 'Amount of Bread', '2');
    expect(site.errors).toEqual([]);
  });
});
