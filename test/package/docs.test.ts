import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, inject, test } from 'vitest';
import { makeFolder, removeFolder } from '../../tools/browsers/child.mjs';
import { unpackInto } from './tarball.ts';

test('every link and picture in the packed documentation leads to a packed file', async () => {
  const folder = makeFolder('packed');
  try {
    await unpackInto(folder, inject('tarball'));
    const packed = join(folder, 'node_modules/cairndb');
    const pages = readdirSync(packed, { recursive: true, encoding: 'utf8' }).filter((path) =>
      path.endsWith('.md'),
    );
    expect(pages).toContain('README.md');
    const dead: string[] = [];
    for (const page of pages) {
      const text = readFileSync(join(packed, page), 'utf8');
      for (const [, link = ''] of text.matchAll(/\]\((?![a-z]+:|#)([^)#\s]+)/g))
        if (!existsSync(join(packed, dirname(page), link))) dead.push(`${page}: ${link}`);
    }
    expect(dead).toEqual([]);
  } finally {
    removeFolder(folder);
  }
});
