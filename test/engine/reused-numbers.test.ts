import { expect, test } from 'vitest';
import { memoryDriver } from '../../src/storage/drivers/memory-driver.ts';
import { openClient } from './engine-client.ts';

const IDS = ['a', 'b', 'c'];

/** A client, and files of collections whose documents have a text of their own. */
async function openWithFiles() {
  const { client } = openClient(memoryDriver());
  const open = (name: string) =>
    new client.Collection<{ text: string }>({
      ...{ name, type: 'DOCUMENT_BASED', caching: false },
      activate_drop_method: true,
    });
  const fileOf = async (text: string): Promise<Blob> => {
    const source = open(`source of ${text}`);
    await source.insertMany(IDS.map((_id) => ({ _id, text: text.repeat(100) })));
    const file = await source.exportBackup(await source.createBackup());
    return new Response(file).blob();
  };
  return { client, open, fileOf };
}

// An import makes no watermarks, so nothing is left under the name, and the next collection has the
// same segment numbers.
test('a collection with the name of a renamed one reads its own documents', async () => {
  const { client, open, fileOf } = await openWithFiles();
  for (const text of ['x', 'y']) {
    const next = open('next');
    await next.importBackup(await fileOf(text));
    expect((await next.getMany(IDS)).map((one) => one?.text[0])).toEqual([text, text, text]);
    await client.renameCollection('next', `current ${text}`);
  }
  expect((await open('current x').get('b'))?.text[0]).toBe('x');
  expect((await open('current y').get('b'))?.text[0]).toBe('y');
  await client.close();
});

test('a collection with the name of a dropped one reads its own documents', async () => {
  const { client, open, fileOf } = await openWithFiles();
  for (const text of ['x', 'y', 'z']) {
    const next = open('next');
    await next.importBackup(await fileOf(text));
    expect((await next.get('b'))?.text[0]).toBe(text);
    // What the import replaces stays for the backup before it, and is not live.
    await next.importBackup(await fileOf(`${text}+`));
    await next.Drop();
  }
  await client.close();
});
