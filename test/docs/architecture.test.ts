import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const page = readFileSync(`${ROOT}docs/architecture.md`, 'utf8');

/** The steps of a walk: number, file, function. */
function walk(title: string): (readonly [number: number, file: string, name: string])[] {
  const section = page.split(`## ${title}\n`)[1]?.split('\n## ')[0] ?? '';
  return Array.from(section.matchAll(/^\| (\d+) \| `([^`]+)` \| `([^`]+)` \|/gm), (row) => [
    Number(row[1]),
    row[2] as string,
    row[3] as string,
  ]);
}

describe.each([
  ['The walk of one insert', 15],
  ['The walk of one filter', 10],
  ['The walk of one live query', 12],
  ['The walk of one replication', 13],
] as const)('%s', (title, most) => {
  const steps = walk(title);

  // Hops are between steps: 14 for an insert.
  test(`has at most ${most} steps, numbered`, () => {
    expect(steps.length).toBeGreaterThan(0);
    expect(steps.length).toBeLessThanOrEqual(most);
    expect(steps.map(([number]) => number)).toEqual(steps.map((_, index) => index + 1));
  });

  test('names files that define the functions', () => {
    const missing = steps.filter(([, file, name]) => {
      const source = existsSync(ROOT + file) ? readFileSync(ROOT + file, 'utf8') : '';
      const words =
        'export |async |static |readonly |protected |function\\*? |class |interface |\\*';
      return !new RegExp(`^ *(?:${words})*${name}[(<: ]`, 'm').test(source);
    });
    expect(missing).toEqual([]);
  });
});

test('the insert waits at four steps', () => {
  const section = page.split('## The walk of one insert\n')[1]?.split('\n## ')[0] ?? '';
  expect(section.match(/\*\*waits\*\*/g)).toHaveLength(4);
});

test('a method is added in at most four files', () => {
  const section = page.split('## Adding a method\n')[1]?.split('\n## ')[0] ?? '';
  const files = Array.from(section.matchAll(/^\| \d \| `([^`]+)` \|/gm), (row) => row[1]);
  expect(files.length).toBeGreaterThan(0);
  expect(files.length).toBeLessThanOrEqual(4);
});

test('the table of changes names files and folders that exist', () => {
  const paths = Array.from(page.matchAll(/`(src\/[^`]+)`/g), (match) => match[1] as string);
  expect(paths.length).toBeGreaterThan(30);
  expect(paths.filter((path) => !existsSync(ROOT + path))).toEqual([]);
});
