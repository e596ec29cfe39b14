import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** A fenced block of code in a page. */
export interface Example {
  readonly page: string;
  /** The page's line that holds its first line of code, from 1. */
  readonly line: number;
  /** The JSX of `tsx` is React's, of `tsx solid` Solid's. */
  readonly language: 'ts' | 'tsx' | 'vue' | 'svelte';
  /**
   * In ````
   * ```ts [src/db.ts] ````: the file of an app that the page builds; its other files may import it.
   */
  readonly file: string | undefined;
  /** Whether it can run in Node: `ts no-run`, the files of an app and components cannot. */
  readonly runs: boolean;
  readonly code: string;
}

const FENCED = /^```(tsx?|vue|svelte)\b([^\n]*)\n(.*?)^```$/gms;

/** TypeDoc writes there, from sources that have tests of their own. */
const GENERATED = 'docs/api/';

/** The text of every page of the documentation, by its path in the repository. */
export function readPages(): ReadonlyMap<string, string> {
  const inFolders = ['docs', 'skills'].flatMap((folder) =>
    readdirSync(`${ROOT}${folder}`, { recursive: true, encoding: 'utf8' })
      .map((file) => `${folder}/${file}`)
      .filter((file) => file.endsWith('.md') && !file.startsWith(GENERATED)),
  );
  const sample = 'site/.vitepress/theme/sample.md';
  return new Map(
    ['README.md', 'CHANGELOG.md', sample, ...inFolders].map((file) => [file, readText(file)]),
  );
}

/** A text file of the repository. */
export const readText = (file: string): string => readFileSync(`${ROOT}${file}`, 'utf8');

/** The examples of all pages, and the rows of the table of update operators. */
export function readExamples(): Example[] {
  return [...readPages()].flatMap(([page, text]) => {
    const fenced = [...text.matchAll(FENCED)].map(
      ({ 1: language, 2: flags = '', 3: code = '', index }) => {
        const [, file] = /\[(\S+)\]/.exec(flags) ?? [];
        return {
          page,
          line: lineAt(text, index) + 1,
          language: language as Example['language'],
          file,
          runs: language === 'ts' && !file && !flags.includes('no-run'),
          code: flags.includes('solid') ? `/** @jsxImportSource solid-js */ ${code}` : code,
        };
      },
    );
    const updates = page === EXPRESSIONS ? [] : [...text.matchAll(UPDATE)];
    const rows = updates.map(({ 1: changes, 2: before, 3: after, index }) => ({
      page,
      line: lineAt(text, index),
      language: 'ts' as const,
      file: undefined,
      runs: true,
      code: updateExample(changes as string, before as string, after),
    }));
    return [...fenced, ...rows];
  });
}

/** Its tables have a test of their own. */
const EXPRESSIONS = 'docs/reference/expressions.md';

/**
 * A row of a table: changes, the document before and after. A cell in words instead is not
 * compared.
 */
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
