import type { Section } from './recipes/open-manual.ts';

const pages = import.meta.glob<string>(
  ['../../../docs/{*,*/*}.md', '!../../../docs/{api,benchmarks,decisions}/*.md'],
  { query: '?raw', import: 'default', eager: true },
);

/** The sections of the docs. Loads on demand: all their texts are in this file. */
export function manualSections(): Section[] {
  return Object.entries(pages).flatMap(([, source]) => {
    const [head = '', ...rest] = withoutCode(source).split(/^##+ /m);
    const page = /^# (.+)$/m.exec(head)?.[1] ?? '';
    const first = head.replace(/^---[\s\S]*?^---/m, '').replace(/^# .+$/m, '');
    const sections = rest.map((section) => {
      const [heading = '', ...lines] = section.split('\n');
      return { page, heading: plain(heading), text: plain(lines.join('\n')) };
    });
    return [{ page, heading: page, text: plain(first) }, ...sections].filter(({ text }) => text);
  });
}

const withoutCode = (source: string): string => source.replace(/^```[\s\S]*?^```$/gm, '');

/** Without the signs of Markdown, so that what is marked is what is read. */
const plain = (text: string): string =>
  text
    .replace(/^\|[-:| ]+\|$/gm, '')
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/[`*]+/g, '')
    .replace(/^\| *| *\|$/gm, (end) => (end.startsWith('|') ? '' : ';'))
    .replace(/ \|(?: \|)* /g, ' · ')
    .replace(/[|<>]+/g, ' ')
    .replace(/\s+/g, ' ')
    .trim();
