import { beforeAll, expect, test } from 'vitest';
import { Database } from '../../src/index.ts';
import { files } from '../../src/node/index.ts';
import { makeFolder } from '../../tools/browsers/child.mjs';
import { buildProgram, ChildProgram } from './child-program.ts';

let program: string;

beforeAll(async () => {
  program = await buildProgram('steady-process.ts');
});

async function storedIn(directory: string, call: string): Promise<number | undefined> {
  const db = new Database({ name: 'shop', storage: files(directory) });
  try {
    const counts = new db.Collection<{ n: number }>({ name: 'counts', type: 'DOCUMENT_BASED' });
    const values = new db.Collection({ name: 'values', type: 'KEY_VALUE_BASED' });
    if (call === 'insert') return (await counts.count()) - 1;
    if (call === 'patch') return (await counts.get('one'))?.n;
    return (await values.get('n')) as number;
  } finally {
    await db.close();
  }
}

test.each(['insert', 'patch', 'set'])(
  'a loop that awaits nothing but %s is saved, and kill -9 loses nothing that was',
  async (call) => {
    const directory = makeFolder(`steady-${call}`);
    const child = new ChildProgram([program, directory, call]);
    const line = await child.line();
    await child.end();
    expect(line).toMatch(/^saved \d+$/);
    const stored = await storedIn(directory, call);
    expect(stored).toBeGreaterThanOrEqual(Number(line.split(' ')[1]));
  },
);

test.each(['get', 'save'])(
  'a loop that awaits nothing but %s starves no timer and no signal',
  async (call) => {
    const child = new ChildProgram([program, makeFolder(`steady-${call}`), call]);
    const line = await child.line();
    await child.end();
    expect(line).toBe('turned');
  },
);
