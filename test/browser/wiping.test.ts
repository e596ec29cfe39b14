import { expect, test } from 'vitest';
import { onWiped, wipe } from '../../docs/recipes/wiping.md?code';
import { connect, type DatabaseClient } from '../../src/index.ts';

const open = (db: DatabaseClient) =>
  new db.Collection<{ text: string }>({
    name: 'notes',
    type: 'DOCUMENT_BASED',
    activate_drop_method: true,
  });

test('the recipe wipes a database that two clients have open', async () => {
  const name = `wiped ${Math.random()}`;
  const [db, other] = [connect({ name }), connect({ name })];
  const [notes, others] = [open(db), open(other)];
  await notes.insert({ text: 'mine' });
  await others.insert({ text: 'mine too' });
  await notes.createBackup();
  await db.save();
  const shown = others.live({});
  const stop = shown.subscribe(() => undefined);
  await shown.ready;
  const left = new Promise<void>((resolve) => onWiped(other, resolve));

  await wipe(db, [notes]);
  await left;
  stop();
  await expect(others.count()).rejects.toThrow();
  expect(Object.keys(localStorage).filter((key) => key.includes(name))).toEqual([]);

  const anew = connect({ name });
  const empty = open(anew);
  expect(await empty.count({}, { archived: true })).toBe(0);
  expect(await empty.listBackups()).toEqual([]);
  await anew.close();
});
