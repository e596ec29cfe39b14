import { expect, test } from 'vitest';
import { memoryDriver } from '../../src/storage/drivers/memory-driver.ts';
import { openClient } from './engine-client.ts';

const things = { name: 'things', type: 'DOCUMENT_BASED', activate_drop_method: true } as const;

test.each([false, true])(
  'a segment with missing bodies is data_damaged; deletes and Drop() still work, caching: %s',
  async (caching) => {
    const driver = memoryDriver();
    const { client } = openClient(driver);
    const pad = 'p'.repeat(40_000);
    await new client.Collection<{ pad: string }>(things).insertMany([
      { _id: 'a', pad },
      { _id: 'b', pad },
      { _id: 'c', pad },
    ]);
    await client.close();
    const storage = await driver.open('test', { damaged: () => undefined });
    const [key = []] = await storage.keys('bodies', ['things']);
    const [stored] = (await storage.getMany('bodies', [key])) as { bodies: string[] }[];
    const value = { ...stored, bodies: stored?.bodies.slice(0, 1) };
    await storage.write([{ type: 'put', store: 'bodies', key, value }], 'relaxed');
    const again = openClient(driver).client;
    const opened = new again.Collection<{ pad: string }>({ ...things, caching });
    const damaged = { code: 'data_damaged' };
    expect(await opened.count()).toBe(3);
    expect(await opened.get('a')).toMatchObject({ _id: 'a' });
    await expect(opened.get('b')).rejects.toMatchObject(damaged);
    await expect(opened.filter({ pad })).rejects.toMatchObject(damaged);
    await expect(opened.patch('c', { pad: '' })).rejects.toMatchObject(damaged);
    expect(await opened.delete('c')).toBe(true);
    expect(await opened.Drop()).toBe(true);
    await again.close();
  },
);
