import ts from 'typescript';
import type { Remote } from '../../src/replication/protocol/remote.ts';
import { readExamples } from '../docs/pages.ts';

/** The adapter in a `Map` of docs/sync/adapters.md, as it stands there. */
export function documentedRemote(): Remote<number> {
  const example = readExamples().find(
    ({ page, code }) => page === 'docs/sync/adapters.md' && code.includes('const rows = new Map'),
  );
  const [, adapter] = /(const rows = new Map.*?)^const db = /ms.exec(example?.code ?? '') ?? [];
  const code = ts.transpile(`${adapter}`, { target: ts.ScriptTarget.ESNext });
  return new Function(`${code}; return remote;`)() as Remote<number>;
}
