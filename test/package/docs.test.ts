import { dirname, normalize } from 'node:path';
import { expect, inject, test } from 'vitest';
import { ROOT, run } from './tarball.ts';

const tarball = inject('tarball');
const tar = async (...args: string[]) => (await run('tar', args, ROOT)).stdout;

test('every link and picture in the packed documentation leads to a packed file', async () => {
  const packed = (await tar('-tzf', tarball)).trim().split('\n');
  const pages = packed.filter((path) => path.endsWith('.md'));
  expect(pages).toContain('package/README.md');
  const dead: string[] = [];
  for (const page of pages) {
    const text = await tar('-xOzf', tarball, page);
    for (const [, link = ''] of text.matchAll(/\]\((?![a-z]+:|#)([^)#\s]+)/g)) {
      const target = normalize(`${dirname(page)}/${link}`);
      const isThere = packed.some((path) => path === target || path.startsWith(`${target}/`));
      if (!isThere) dead.push(`${page}: ${link}`);
    }
  }
  expect(dead).toEqual([]);
});
