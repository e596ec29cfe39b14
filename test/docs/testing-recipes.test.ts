import { readdirSync } from 'node:fs';
import { expect, test } from 'vitest';
import { ROOT, readText } from './pages.ts';

const files = readdirSync(`${ROOT}test/recipes`, { recursive: true, encoding: 'utf8' })
  .filter((file) => /\.(js|json)$/.test(file))
  .map((file) => readText(`test/recipes/${file}`));

const blocks = [...readText('docs/testing.md').matchAll(/^```(?:js|json)\n(.*?)^```$/gms)].map(
  ([, code = '']) => code,
);

test('docs/testing.md shows the recipes as test/package/recipes.test.ts runs them', () => {
  expect(blocks.length).toBeGreaterThan(10);
  expect(blocks.filter((code) => !files.some((file) => file.includes(code)))).toEqual([]);
});

test('docs/testing.md shows every configuration of a recipe', () => {
  const configs = readdirSync(`${ROOT}test/recipes`, { recursive: true, encoding: 'utf8' })
    .filter((file) => /(config|setup)\.js$/.test(file))
    .map((file) => readText(`test/recipes/${file}`));
  expect(configs.length).toBeGreaterThan(5);
  expect(configs.filter((config) => !blocks.includes(config))).toEqual([]);
});
