import { expect, test } from 'vitest';
import { Database, memoryDriver } from '../../src/index.ts';
import { FailingStorage } from '../contract/failing-storage.ts';

test('a commit beside a drop does not bring back unsaved documents that it has read', async () => {
  const storage = new FailingStorage(memoryDriver());
  const open = () => new Database({ name: 'drops', storage });
  const collection = (db: Database, name: string) =>
    new db.Collection<{ n: number }>({
      ...{ name, type: 'DOCUMENT_BASED', activate_drop_method: true },
      ...{ save_timeout: 3600, save_directly_after: 1000 },
    });
  const [one, other] = [open(), open()];
  const [things, log] = [collection(one, 'things'), collection(one, 'log')];
  await things.insert({ _id: 'a', n: 1 });
  await log.insert({ _id: 'a', n: 1 });
  await one.save();
  const theirs = collection(other, 'things');
  // A commit that has read it waits for its save.
  await theirs.insert({ _id: 'unsaved', n: 1 });
  const writes: (() => void)[] = [];
  let begin: () => void = () => undefined;
  const begun = new Promise<void>((resolve) => {
    begin = resolve;
  });
  let dropping: Promise<unknown> = Promise.resolve();
  const committed = one.transaction(async (tx) => {
    await tx(things).count();
    storage.beforeWrite = () => {
      begin();
      return new Promise((finish) => {
        writes.push(finish);
      });
    };
    dropping = theirs.Drop();
    await begun;
    await tx(log).insert({ n: 2 });
  });
  await begun;
  while ((await log.count({ n: 2 })) === 0);
  await new Promise((resolve) => setTimeout(resolve));
  storage.beforeWrite = async () => undefined;
  const [finishDrop, ...others] = writes;
  finishDrop?.();
  expect(await dropping).toBe(true);
  for (const finish of others) finish();
  await Promise.all([committed, one.save()]);
  await Promise.all([one.close(), other.close()]);
  const again = open();
  expect(await collection(again, 'things').count()).toBe(0);
  expect(await collection(again, 'log').count()).toBe(2);
  await again.close();
});
