import { expect, test } from 'vitest';
import { readText } from './pages.ts';

const benchmark = readText('docs/benchmarks/10000.md');

/** The columns of the table in the comparison, by the section and the heading of the benchmark. */
const columns = [
  ['Code that page and worker load, gzip', 'JavaScript'],
  ['Reload, open, find 200 documents by an index', 'From opening'],
  ['Insert all documents in one call', 'Durable'],
  ['Insert all documents in one call', 'Longest block'],
  ['Get 1,000 documents by id', 'One after another'],
  ['Find 200 documents by an indexed field', 'Until the documents'],
  ['Find a tenth by a range of a nested field, no index', 'Until the documents'],
  ['A live query of 200 documents, one changed', 'From the change'],
  ['Memory of page and worker after a reload and the first result', 'More than'],
  ['Bytes on disk', 'Size of'],
] as const;

test('the figures of the comparison are those of the benchmark', () => {
  const section = readText('docs/comparison.md').split('## Figures\n')[1]?.split('\n## ')[0] ?? '';
  const rows = [...section.matchAll(/^\| (\w[^|]+) \|( \d.+)\|$/gm)];
  expect(rows.length).toBe(11);
  for (const [, name = '', cells = ''] of rows) {
    const figures = cells.split('|').map((cell) => cell.trim());
    expect([name, figures]).toEqual([
      name,
      columns.map(([section, heading]) => measured(name, section, heading)),
    ]);
  }
});

/** The median of a database in one table of the benchmark; a dash if it was not measured. */
function measured(name: string, section: string, heading: string): string {
  const found = benchmark.split(`## ${section}\n`)[1]?.split('\n## ')[0] ?? '';
  const table = found.split(`\n**${heading}`)[1]?.split('\n**')[0];
  expect(table, `${section}, ${heading}`).toBeDefined();
  const row = table?.split('\n').find((line) => line.startsWith(`| ${name} |`));
  return row?.split('|')[2]?.trim() ?? '–';
}
