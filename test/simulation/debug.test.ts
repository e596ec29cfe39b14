import { test } from 'vitest';
import { Database } from '../../src/index.ts';
import { run } from './run.ts';

test('x', async () => {
  const db = new Database({ name: 'warm-up', storage: 'memory' });
  await new db.Collection({ name: 'notes', type: 'DOCUMENT_BASED' }).insert({});
  await new db.Collection({ name: 'log', type: 'KEY_VALUE_BASED' }).push('all', 1);
  await db.close();
  const lines: string[] = [];
  const v = await run(Number(process.env.SEED), (line) => lines.push(line));
  console.log(lines.join('\n') + '\n' + v.join('\n'));
});
