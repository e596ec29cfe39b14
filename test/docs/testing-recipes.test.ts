import { readdirSync } from 'node:fs';
import { expect, test } from 'vitest';
import { ROOT, readPages, readText } from './pages.ts';

const files = readdirSync(`${ROOT}test/recipes`, { recursive: true, encoding: 'utf8' })
  .filter((file) => /\.(js|json)$/.test(file))
  .map((file) => readText(`test/recipes/${file}`));

const blocks = [...readPages()]
  .filter(([page]) => /^docs\/testing[/.]/.test(page))
  .flatMap(([, text]) => [...text.matchAll(/^```(?:js|json)\n(.*?)^```$/gms)])
  .map(([, code = '']) => code);

test('the pages about testing show the recipes as test/package/recipes.test.ts runs them', () => {
  expect(blocks.length).toBeGreaterThan(10);
  expect(blocks.filter((code) => !files.some((file) => file.includes(code)))).toEqual([]);
});

test('the pages about testing show every configuration of a recipe', () => {
  const configs = readdirSync(`${ROOT}test/recipes`, { recursive: true, encoding: 'utf8' })
    .filter((file) => /(config|setup)\.js$/.test(file))
    .map((file) => readText(`test/recipes/${file}`));
  expect(configs.length).toBeGreaterThan(5);
  expect(configs.filter((config) => !blocks.includes(config))).toEqual([]);
});
