import { expect, test } from 'vitest';
import { connect } from '../../src/index.ts';
import { MessageWorker } from './message-worker.ts';
import { uncloneableBlob } from './uncloneable-blob.ts';

test('a call that cannot be cloned rejects and does not affect other calls', async () => {
  const worker = new MessageWorker().asWorker;
  const db = connect({ name: 'uncloneable', storage: 'memory', worker });
  const things = new db.Collection({ name: 'things', type: 'DOCUMENT_BASED' });
  await things.ready;
  await expect(things.insert({ blob: uncloneableBlob() })).rejects.toMatchObject({
    cause: { name: 'DataCloneError' },
  });
  await things.insert({});
  expect(await things.count()).toBe(1);
  await db.close();
});
