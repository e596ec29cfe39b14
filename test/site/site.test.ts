import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { AxeResults } from 'axe-core';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { launchChromium } from '../../tools/browsers/chromium.mjs';
import { ROOT } from '../../tools/setup.mjs';
import { allAtNight } from '../setup/at-night.ts';

const SITE = `${ROOT}site/dist/`;
const SCREENSHOTS = fileURLToPath(new URL('screenshots/', import.meta.url));
const AXE = readFileSync(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8');
const SCHEMES = allAtNight(['light', 'dark'] as const, ['light'] as const);
const PAGES = {
  home: '',
  guide: 'guides/queries',
  reference: 'reference/collections',
  examples: 'examples',
  types: 'api/',
};

const files = readdirSync(SITE, { recursive: true, encoding: 'utf8' });
const read = (file: string) => readFileSync(`${SITE}${file}`, 'utf8');

describe('the files of the site', () => {
  const pages = files.filter((file) => file.endsWith('.html'));

  test('every link with an anchor leads to a heading', () => {
    const idsOf = new Map(
      pages.map((page) => [
        page,
        new Set([...read(page).matchAll(/ id="([^"]+)"/g)].map(([, id]) => id)),
      ]),
    );
    const dead = pages.flatMap((page) =>
      [...read(page).matchAll(/ href="([^"#:]*)#([^"]+)"/g)].flatMap(
        ([, path = '', anchor = '']) => {
          const target = path === '' ? page : fileOf(new URL(path, `http://site/${page}`).pathname);
          const ids = idsOf.get(target);
          return ids?.has(decodeURIComponent(anchor)) ? [] : [`${page}: ${path}#${anchor}`];
        },
      ),
    );
    expect(dead).toEqual([]);
  });

  test('llms.txt lists every guide, and each is there as Markdown', () => {
    const listed = [...read('llms.txt').matchAll(/\]\(\/(\S+\.md)\)/g)].map(
      ([, file = '']) => file,
    );
    const guides = readdirSync(`${ROOT}docs/guides`).map((file) => `guides/${file}`);
    expect(listed).toEqual(expect.arrayContaining(guides));
    expect(listed.filter((file) => !existsSync(`${SITE}${file}`))).toEqual([]);
  });

  test('every link between the Markdown pages leads to one of them', () => {
    const dead = files
      .filter((file) => file.endsWith('.md'))
      .flatMap((file) =>
        [...read(file).matchAll(/\]\((?![a-z]+:|[/#])([^)#]+\.md)/g)].flatMap(([, link = '']) =>
          existsSync(join(SITE, dirname(file), link)) ? [] : [`${file}: ${link}`],
        ),
      );
    expect(dead).toEqual([]);
  });
});

describe('in Chromium', () => {
  let server: Server;
  let browser: Awaited<ReturnType<typeof launchChromium>>;
  let page: Page;
  let origin: string;
  const requests: string[] = [];
  const errors: string[] = [];

  beforeAll(async () => {
    server = serve();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    browser = await launchChromium();
    page = await browser.newPage();
    page.on('request', (request) => requests.push(request.url()));
    page.on('pageerror', (error) => errors.push(String(error)));
    page.on('console', (message) => {
      if (message.type() === 'error') errors.push(message.text());
    });
  });

  afterAll(async () => {
    await browser.close();
    server.close();
  });

  test.for(Object.entries(PAGES))(
    '%s: nothing is cut off on a phone, axe reports nothing',
    async ([name, path]) => {
      for (const colorScheme of SCHEMES) {
        await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
        for (const width of [390, 1280]) {
          await page.setViewportSize({ width, height: width < 600 ? 844 : 900 });
          await page.goto(`${origin}/${path}`);
          await page.locator('main, [role=main]').waitFor(); // the home page has it once it runs
          await page.screenshot({ path: `${SCREENSHOTS}${name}-${width}-${colorScheme}.png` });
          const overflow = await page.evaluate(
            () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
          );
          expect(overflow, `${width}, ${colorScheme}`).toBeLessThanOrEqual(0);
        }
        expect(await violations(), colorScheme).toEqual([]);
      }
    },
  );

  test('no code block and no table scrolls sideways, on a phone or a laptop', async () => {
    for (const width of [390, 1280]) {
      await page.setViewportSize({ width, height: 900 });
      for (const path of ['get-started/react', 'migrating/dexie', 'guides/queries']) {
        await page.goto(`${origin}/${path}`);
        const cut = await page
          .locator('main :is(pre, table)')
          .evaluateAll((all) => all.filter((each) => each.scrollWidth > each.clientWidth).length);
        expect(cut, `${path} at ${width}`).toBe(0);
      }
    }
  });

  test.for([360, 390, 1280])(
    'the home page of %d px shows how to install and all of its first code, whatever the fonts',
    async (width) => {
      for (const fonts of ['there', 'late']) {
        const home = await browser.newPage();
        if (fonts === 'late') await home.route('**/*.woff2', (route) => route.abort());
        await home.setViewportSize({ width, height: 800 });
        await home.goto(origin);
        const install = await home.getByText('npm install cairndb').boundingBox();
        expect((install?.y ?? 800) + (install?.height ?? 0)).toBeLessThan(800);
        const cut = await home
          .locator('.home-sample pre')
          .evaluateAll((all) => all.map((each) => each.scrollWidth - each.clientWidth));
        expect(cut, fonts).toEqual([0, 0]);
        await home.close();
      }
    },
  );

  test('code of the home page runs on a database in its memory, and results stay live', async () => {
    await page.goto(origin);
    const demo = page.getByRole('region', { name: 'Try it here' });
    const rows = demo.locator('tbody tr');
    for (const width of [390, 1280]) {
      await page.setViewportSize({ width, height: 900 });
      await demo.getByRole('button', { name: 'Totals' }).click();
      await expect.poll(() => rows.count()).toBe(3);
      await demo.screenshot({ path: `${SCREENSHOTS}try-${width}.png` });
    }
    const edited = 'orders.live({ price: { $gt: 200 } })';
    await demo.getByLabel('Code').fill(edited);
    await demo.getByRole('button', { name: 'Run' }).click();
    await expect.poll(() => rows.allInnerTexts()).toEqual(['Oak desk\toffice\t240']);
    await demo
      .getByLabel('Code')
      .fill("orders.insert({ item: 'Stool', room: 'hall', price: 300 })");
    await demo.getByRole('button', { name: 'Run' }).click();
    await expect.poll(() => demo.getByRole('status').innerText()).toContain('Stool');
    await demo.getByLabel('Code').fill('orders.filter({ price: { $above: 1 } })');
    await demo.getByRole('button', { name: 'Run' }).click();
    await expect.poll(() => demo.getByRole('status').innerText()).toContain('$above');
    expect(await violations()).toEqual([]);
  });

  test.for([
    ['insertMany', 'reference/'],
    ['save_timeout', 'reference/'],
    ['$inc', 'reference/'],
    ['storage_full', 'errors'],
    ['id_taken', 'errors'],
  ] as const)('the search for %s leads to a page of %s', async ([words, address]) => {
    await page.setViewportSize({ width: 1280, height: 900 });
    await page.goto(`${origin}/guides/queries`, { waitUntil: 'networkidle' });
    await page.keyboard.press('Control+k');
    await page.locator('#localsearch-input').fill(words);
    const first = page.locator('.VPLocalSearchBox .result').first();
    await expect.poll(() => first.getAttribute('href')).toContain(address);
    await first.click();
    await expect.poll(() => page.locator('main').innerText()).toContain(words);
  });

  test('each error code has an address', async () => {
    await page.goto(`${origin}/errors#storage_full`);
    expect(await page.locator('tr#storage_full').innerText()).toContain('the quota is exhausted');
  });

  test('the former address of a page leads to the new one', async () => {
    await page.goto(`${origin}/sync-server#who-may-do-what`);
    await page.waitForURL(`${origin}/sync/server#who-may-do-what`);
  });

  test.for(readdirSync(`${ROOT}docs/get-started`).map((name) => name.replace('.md', '')))(
    'examples/%s opens in an online editor with its files',
    async (name) => {
      await page.goto(`${origin}/examples`);
      const button = page.getByRole('button', { name: `Open in StackBlitz: ${name}` });
      const sent = await button.evaluate((element: HTMLButtonElement) => {
        const form = element.form as HTMLFormElement;
        return { to: form.action, method: form.method, fields: [...new FormData(form)] };
      });
      expect(sent).toMatchObject({
        to: 'https://stackblitz.com/run?startScript=dev',
        method: 'post',
      });
      const files = new Map(sent.fields as [string, string][]);
      expect(files.get('project[template]')).toBe('node');
      for (const file of ['package.json', 'vite.config.ts', 'src/database.ts', 'public/icon.svg'])
        expect(files.get(`project[files][${file}]`)?.replaceAll('\r\n', '\n'), file).toBe(
          readFileSync(`${ROOT}examples/${name}/${file}`, 'utf8'),
        );
      expect([...files.keys()].filter((key) => /node_modules|dist/.test(key))).toEqual([]);
    },
  );

  test('no request leaves the site, and nothing fails', () => {
    expect(requests.length).toBeGreaterThan(10);
    expect(
      requests.filter((url) => !url.startsWith(`${origin}/`) && !url.startsWith('data:')),
    ).toEqual([]);
    expect(errors).toEqual([]);
  });

  async function violations(): Promise<string[]> {
    await page.evaluate(AXE);
    const { violations } = await page.evaluate(() =>
      (globalThis as unknown as { axe: { run(): Promise<AxeResults> } }).axe.run(),
    );
    return violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html}`));
  }
});

/** The file of a path, as static hosts find it. */
function fileOf(path: string): string {
  const file = decodeURIComponent(path).slice(1);
  const names = [file, `${file}.html`, `${file}index.html`, `${file}/index.html`];
  return names.find((name) => extname(name) && files.includes(name)) ?? '404.html';
}

function serve(): Server {
  const types: Record<string, string> = {
    '.html': 'text/html',
    '.js': 'text/javascript',
    '.css': 'text/css',
    '.svg': 'image/svg+xml',
  };
  return createServer(({ url = '/' }, response) => {
    const file = fileOf(new URL(url, 'http://site').pathname);
    response.setHeader('Content-Type', types[extname(file)] ?? 'application/octet-stream');
    response.statusCode = file === '404.html' ? 404 : 200;
    response.end(readFileSync(`${SITE}${file}`));
  });
}
