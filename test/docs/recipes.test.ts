import { expect, test } from 'vitest';
import { readPages } from './pages.ts';

test.each(['recipes', 'migrating'])('docs/%s/index.md names every page of the folder', (folder) => {
  const pages = [...readPages()].filter(([path]) => path.startsWith(`docs/${folder}/`));
  const index = pages.find(([path]) => path.endsWith('/index.md'))?.[1] ?? '';
  const names = pages.map(([path]) => path.slice(`docs/${folder}/`.length));
  const left = names.filter((name) => name !== 'index.md' && !index.includes(`](${name})`));
  expect(names.length).toBeGreaterThan(5);
  expect(left).toEqual([]);
});
