import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** A fenced block of TypeScript in a page. */
export interface Example {
  readonly page: string;
  /** The page's line that holds its first line of code, from 1. */
  readonly line: number;
  /** Whether it can run in Node: `ts no-run` and `tsx` cannot. */
  readonly runs: boolean;
  readonly code: string;
}

const FENCED = /^```(tsx?)\b([^\n]*)\n(.*?)^```$/gms;

/** The text of every page of the documentation, by its path in the repository. */
export function readPages(): ReadonlyMap<string, string> {
  const inDocs = readdirSync(`${ROOT}docs`, { recursive: true, encoding: 'utf8' });
  const pages = inDocs.filter((file) => file.endsWith('.md')).map((file) => `docs/${file}`);
  return new Map(['README.md', 'CHANGELOG.md', ...pages].map((file) => [file, readText(file)]));
}

/** A text file of the repository. */
export const readText = (file: string): string => readFileSync(`${ROOT}${file}`, 'utf8');

/** The TypeScript examples of all pages, and the rows of the table of update operators. */
export function readExamples(): Example[] {
  return [...readPages()].flatMap(([page, text]) => {
    const fenced = [...text.matchAll(FENCED)].map(
      ({ 1: language, 2: flags = '', 3: code = '', index }) => ({
        page,
        line: lineAt(text, index) + 1,
        runs: language === 'ts' && !flags.includes('no-run'),
        code,
      }),
    );
    const rows = [...text.matchAll(UPDATE)].map(({ 1: changes, 2: before, 3: after, index }) => ({
      page,
      line: lineAt(text, index),
      runs: true,
      code: updateExample(changes as string, before as string, after),
    }));
    return [...fenced, ...rows];
  });
}

/** A row of a table: changes, the document before and after. A cell in words instead is not compared. */
const UPDATE = /^\| `(\{ \$[^`]+)` \| `([^`]+)` \| (?:`([^`]+)`|[^|`]+) \|/gm;

/** Its first line has all that can be a type error, so that the error is placed in the row. */
function updateExample(changes: string, before: string, after: string | undefined): string {
  const collection = "new db.Collection<Product>({ name: 'products', type: 'DOCUMENT_BASED' })";
  const patch = `const products = ${collection}, { _id } = await products.insert(${before}), patched = await products.patch(_id, ${changes});`;
  return after
    ? `${patch}\npatched; // => { _id, _updated: true, _archived: false, ...${after} }\n`
    : patch;
}

function lineAt(text: string, index: number): number {
  return text.slice(0, index).split('\n').length;
}
