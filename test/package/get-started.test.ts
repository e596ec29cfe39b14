import { mkdirSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { removeFolder } from '../../tools/browsers/child.mjs';
import { launchChromium } from '../../tools/browsers/chromium.mjs';
import { readExamples, readText } from '../docs/pages.ts';
import { allAtNight } from '../setup/at-night.ts';
import { makeApp } from './consumers.ts';
import { serveFolder } from './static-server.ts';
import { ROOT, run } from './tarball.ts';

/** What `npm create vite` and `npm install` add to the files of a page. */
interface Template {
  readonly framework: string;
  readonly packages: readonly string[];
  /** The module that starts the app; the page of plain JavaScript has its own. */
  readonly main?: Readonly<Record<string, string>>;
  readonly config?: string;
}

const templates: readonly Template[] = [
  { framework: 'vanilla', packages: [] },
  {
    framework: 'react',
    packages: ['react', 'react-dom'],
    main: {
      'src/main.tsx': `
        import { StrictMode } from 'react';
        import { createRoot } from 'react-dom/client';
        import App from './App.tsx';
        createRoot(document.getElementById('app')).render(<StrictMode><App /></StrictMode>);
      `,
    },
    config: "export default { oxc: { jsx: { runtime: 'automatic' } } };",
  },
  {
    framework: 'svelte',
    packages: ['svelte', '@sveltejs/vite-plugin-svelte'],
    main: {
      'src/main.ts': `
        import { mount } from 'svelte';
        import App from './App.svelte';
        mount(App, { target: document.getElementById('app') });
      `,
    },
    config: `
      import { svelte } from '@sveltejs/vite-plugin-svelte';
      export default { plugins: [svelte()] };
    `,
  },
  {
    framework: 'solid',
    packages: ['solid-js', 'vite-plugin-solid'],
    main: {
      'src/main.tsx': `
        import { render } from 'solid-js/web';
        import App from './App.tsx';
        render(() => <App />, document.getElementById('app'));
      `,
    },
    config: "import solid from 'vite-plugin-solid'; export default { plugins: [solid()] };",
  },
];

let chromium: Awaited<ReturnType<typeof launchChromium>>;

beforeAll(async () => {
  chromium = await launchChromium();
});

afterAll(() => chromium?.close());

// Each time without those whose components are only compiled, by the tests of the docs.
test.for(allAtNight(templates, templates.slice(0, 1)))(
  'the app of the page for $framework keeps its list, and shows changes of another tab',
  async (template) => {
    const folder = await build(template);
    const server = await serveFolder(join(folder, 'dist'));
    try {
      const page = await chromium.newPage(server.url);
      const errors: unknown[] = [];
      page.on('pageerror', (error) => errors.push(error));
      await page.getByLabel('New task').fill('Paint the door');
      await page.getByRole('button', { name: 'Add' }).click();
      await page.getByText('Paint the door').waitFor();
      await page.reload();
      await page.getByText('Paint the door').waitFor();

      const other = await chromium.newPage(server.url);
      await other.getByLabel('Paint the door').first().click(); // check() expects it at once
      await expect.poll(() => page.getByLabel('Paint the door').first().isChecked()).toBe(true);
      if (template.main) {
        await page.getByLabel('only open').check();
        await page.getByText('Paint the door').waitFor({ state: 'detached' });
      }
      expect(errors).toEqual([]);
      await other.close();
      await page.close();
    } finally {
      await server.close();
      removeFolder(folder);
    }
  },
);

test('the page without a bundler counts its visits', async () => {
  const [, html = ''] =
    /^```html\n(.*?)^```$/ms.exec(readText('docs/get-started/vanilla.md')) ?? [];
  const folder = await makeApp({ 'index.html': html });
  const server = await serveFolder(folder);
  try {
    const page = await chromium.newPage(server.url);
    await page.getByText('1 visits').waitFor();
    await page.reload();
    await page.getByText('2 visits').waitFor();
    await page.close();
  } finally {
    await server.close();
    removeFolder(folder);
  }
});

/** Builds the files of a page, in a project as the template makes it. */
async function build({ framework, packages, main, config }: Template): Promise<string> {
  const page = `docs/get-started/${framework}.md`;
  const files = readExamples().flatMap((example) =>
    example.page === page && example.file ? [[example.file, example.code] as const] : [],
  );
  const [start = 'src/main.ts'] = Object.keys(main ?? {});
  const html = `<!doctype html><title>Tasks</title><div id="app"></div><script type="module" src="/${start}"></script>`;
  const folder = await makeApp({
    ...Object.fromEntries(files),
    ...main,
    'index.html': html,
    'vite.config.js': config ?? 'export default {};',
  });
  for (const name of packages) {
    const target = join(folder, 'node_modules', name);
    mkdirSync(dirname(target), { recursive: true });
    symlinkSync(join(ROOT, 'node_modules', name), target);
  }
  await run(process.execPath, [join(ROOT, 'node_modules/vite/bin/vite.js'), 'build'], folder);
  return folder;
}
