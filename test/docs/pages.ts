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

/** The TypeScript examples of all pages. */
export function readExamples(): Example[] {
  return [...readPages()].flatMap(([page, text]) =>
    [...text.matchAll(FENCED)].map(({ 1: language, 2: flags = '', 3: code = '', index }) => ({
      page,
      line: text.slice(0, index).split('\n').length + 1,
      runs: language === 'ts' && !flags.includes('no-run'),
      code,
    })),
  );
}
