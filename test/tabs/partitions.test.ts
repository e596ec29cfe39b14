import type { Frame, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { launchUntouchedChromium } from '../../tools/browsers/untouched-chromium.mjs';
import { serveFolder } from '../package/static-server.ts';
import type { TabScope } from './page/page.ts';

declare const window: TabScope;

let site: Awaited<ReturnType<typeof serveFolder>>;
let browser: Awaited<ReturnType<typeof launchUntouchedChromium>>;
let host: string;

beforeAll(async () => {
  const instead: Record<string, { readonly body: string }> = {};
  site = await serveFolder(inject('tabPage'), { instead });
  instead['/host'] = { body: `<!doctype html><iframe src="${site.url}"></iframe>` };
  host = new URL('/host', site.url).href.replace('127.0.0.1', 'localhost');
  browser = await launchUntouchedChromium();
});

afterAll(async () => {
  await browser?.close();
  await site?.close();
});

/** Opens the database of this name in a page or a frame. */
async function open<P extends Page | Frame>(place: P, name: string): Promise<P> {
  await place.waitForFunction(() => 'connect' in window);
  await place.evaluate(async (database) => {
    window.db = window.connect({ name: database });
    window.things = new window.db.Collection({ name: 'things', type: 'DOCUMENT_BASED' });
    await window.things.ready;
  }, name);
  return place;
}

async function openFrame(name: string): Promise<Frame> {
  const page = await browser.newPage();
  await page.goto(host);
  await expect.poll(() => page.frames().length).toBe(2);
  return open(page.frames()[1] as Frame, name);
}

const insert = (place: Page | Frame, _id: string) =>
  place.evaluate(async (id) => {
    await window.things.insert({ _id: id });
    await window.db.save();
  }, _id);
const ids = (place: Page | Frame): Promise<string[]> =>
  place.evaluate(async () =>
    (await window.things.filter({})).map((one: { _id: string }) => one._id),
  );
const storageOf = (place: Page | Frame) => place.evaluate(() => window.db.status.storage);

test('a frame of another site has data of its own, which frames of the same two sites share', async () => {
  const page = await browser.newPage();
  await page.goto(site.url);
  await open(page, 'parts');
  const frame = await openFrame('parts');
  const other = await openFrame('parts');
  await insert(page, 'of the page');
  await insert(frame, 'of a frame');
  expect(await ids(page)).toEqual(['of the page']);
  expect(await ids(frame)).toEqual(['of a frame']);
  expect(await ids(other)).toEqual(['of a frame']);
  expect(await Promise.all([page, frame].map(storageOf))).toEqual(['indexeddb', 'indexeddb']);
});

test('private tabs share a database, apart from the profile, which ends with the last of them', async () => {
  const openPrivate = async () => {
    const context = await browser.context.browser()?.newContext();
    if (!context) throw new Error('There is no browser.');
    const tab = async () => {
      const page = await context.newPage();
      await page.goto(site.url);
      return open(page, 'private');
    };
    return { tab, close: () => context.close() };
  };
  const profile = await browser.newPage();
  await profile.goto(site.url);
  await open(profile, 'private');
  await insert(profile, 'of the profile');
  const first = await openPrivate();
  const [one, two] = [await first.tab(), await first.tab()];
  await insert(one, 'secret');
  expect(await ids(two)).toEqual(['secret']);
  expect(await storageOf(two)).toBe('indexeddb');
  await one.reload();
  expect(await ids(await open(one, 'private'))).toEqual(['secret']);
  await first.close();
  const later = await openPrivate();
  expect(await ids(await later.tab())).toEqual([]);
  expect(await ids(profile)).toEqual(['of the profile']);
  await later.close();
});
