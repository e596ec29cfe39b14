import { cpSync, existsSync, mkdirSync, symlinkSync } from 'node:fs';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { expect, inject, test } from 'vitest';
import { makeFolder, removeFolder } from '../../tools/browsers/child.mjs';
import { requireBrowser } from '../../tools/browsers/find.mjs';
import { allAtNight } from '../setup/at-night.ts';
import { ROOT, run, unpackInto } from './tarball.ts';

/** A project of docs/testing/, with the packages that it installs beside the tarball. */
const recipes: readonly (readonly [name: string, tests: RegExp, packages: readonly string[]])[] = [
  ['vitest-happy-dom', /Tests +3 passed/, ['vitest']],
  ['vitest-jsdom', /Tests +5 passed/, ['vitest', 'fake-indexeddb']],
  ['jest-esm', /Tests: +4 passed/, ['jest', '@jest/globals']],
  ['jest-cjs', /Tests: +6 passed/, ['jest', 'jest-environment-jsdom', '@babel/preset-env']],
  ['node-test', /# pass \d+\n# fail 0/, []],
  ['playwright', /3 passed/, ['@playwright/test', 'vite']],
];

/** Noise in which a user would look for a mistake of their own. */
const NOISE = /cairndb (?:keeps|runs)|did not exit|open handle|UnhandledPromise|teardown/i;

/** Of the others most of the time is their tools'. */
const EACH_TIME = ['vitest-happy-dom', 'jest-cjs', 'node-test'];

test.each(
  allAtNight(
    recipes,
    recipes.filter(([name]) => EACH_TIME.includes(name)),
  ),
)('the recipe %s passes by npm test', async (name, tests, packages) => {
  const folder = await makeProject(name, packages);
  try {
    const env = { CHROME_BIN: requireBrowser('chromium'), PORT: String(await freePort()), CI: '1' };
    const { stdout, stderr } = await run('npm', ['test', '--silent'], folder, env);
    const output = stdout + stderr;
    expect(output).toMatch(tests);
    expect(output).not.toMatch(NOISE);
  } finally {
    removeFolder(folder);
  }
});

/** A project as its user has it after `npm install`. */
async function makeProject(name: string, packages: readonly string[]): Promise<string> {
  const folder = makeFolder(name);
  cpSync(join(ROOT, 'test/recipes', name), folder, { recursive: true });
  const app = join(folder, 'app');
  if (!existsSync(join(app, 'shop.js')))
    cpSync(join(ROOT, 'test/recipes/app'), app, { recursive: true });
  await unpackInto(folder, inject('tarball'));
  for (const installed of [...packages, '.bin']) link(folder, installed);
  return folder;
}

function link(folder: string, installed: string): void {
  const path = join(folder, 'node_modules', installed);
  mkdirSync(dirname(path), { recursive: true });
  symlinkSync(join(ROOT, 'node_modules', installed), path);
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, () => {
      const { port } = server.address() as { port: number };
      server.close(() => resolve(port));
    });
  });
}
