import { existsSync, writeFileSync } from 'node:fs';
import { dirname, relative } from 'node:path/posix';

/** The page that a former address leads to. */
const MOVED: Readonly<Record<string, string>> = {
  'recipes/undo': 'guides/undo',
  'sync-server': 'sync/server',
};

/** Writes a page that redirects at each former address, with its query and anchor. */
export function redirectMoved(outDir: string): void {
  for (const [from, to] of Object.entries(MOVED)) {
    if (!existsSync(`${outDir}/${to}.html`))
      throw new Error(`${from} leads to ${to}, which is no page`);
    writeFileSync(`${outDir}/${from}.html`, redirection(relative(dirname(from), to)));
  }
}

function redirection(to: string): string {
  return `<!doctype html>
<meta charset="utf-8">
<title>Moved</title>
<link rel="canonical" href="${to}">
<meta http-equiv="refresh" content="0; url=${to}">
<script>location.replace('${to}' + location.search + location.hash)</script>
<a href="${to}">This page has moved.</a>
`;
}
