import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path/posix';

/**
 * In the Markdown of the site the page `recipes/index.md` is `recipes.md`. It gets links that hold
 * there, and a copy at its own place, where links of other pages lead.
 */
export function placeIndexes(outDir: string, pages: readonly string[]): void {
  for (const page of pages.filter((each) => each.endsWith('/index.md'))) {
    const folder = dirname(page);
    const file = `${outDir}/${folder}.md`;
    if (!existsSync(file)) continue;
    const text = readFileSync(file, 'utf8');
    writeFileSync(`${outDir}/${page}`, text);
    const moved = text.replaceAll(
      /\]\((?![a-z]+:|[/#])([^)]+)\)/g,
      (_, link: string) => `](${join(basename(folder), link)})`,
    );
    writeFileSync(file, moved);
  }
}
