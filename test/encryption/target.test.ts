import { expect, test } from 'vitest';
import { encryptedTarget } from '../../src/encryption/index.ts';
import { fc, runs } from '../setup/properties.ts';

const key = new Uint8Array(32).fill(6);
const text = (bytes: Uint8Array | undefined) => bytes && new TextDecoder().decode(bytes);
const bytes = (content: string) => new TextEncoder().encode(content);
const code = (value: string) => expect.objectContaining({ code: value });

function memoryTarget(files = new Map<string, Uint8Array>()) {
  return {
    files,
    put: async (path: string, content: Uint8Array) => void files.set(path, content.slice()),
    get: async (path: string) => files.get(path),
    list: async (prefix: string) => [...files.keys()].filter((path) => path.startsWith(prefix)),
    delete: async (path: string) => void files.delete(path),
  };
}

test('objects come back, under their paths, and are unreadable in the target', async () => {
  const inner = memoryTarget();
  const target = encryptedTarget(inner, { key });
  await Promise.all(['a/1', 'a/2', 'b/1'].map((path) => target.put(path, bytes(`secret ${path}`))));
  const again = encryptedTarget(inner, { key });
  expect(text(await again.get('a/2'))).toBe('secret a/2');
  expect(await again.get('a/3')).toBeUndefined();
  expect((await again.list('a/')).sort()).toEqual(['a/1', 'a/2']);
  expect((await again.list('')).sort()).toEqual(['a/1', 'a/2', 'b/1']);
  for (const content of inner.files.values()) expect(text(content)).not.toContain('secret');
  await again.delete('a/1');
  expect((await again.list('')).sort()).toEqual(['a/2', 'b/1']);
});

test('it says where it is, as its target does', () => {
  const named = { ...memoryTarget(), id: 'webdav:https://nas.example/dav/' };
  expect(encryptedTarget(named, { key })).toMatchObject({ id: named.id });
  expect(encryptedTarget(memoryTarget(), { key })).not.toHaveProperty('id');
});

test('an object that was changed or moved to another path is damaged', async () => {
  const inner = memoryTarget();
  const target = encryptedTarget(inner, { password: 'one' });
  await target.put('a', bytes('a'));
  await target.put('b', bytes('b'));
  inner.files.set('a', inner.files.get('b') as Uint8Array);
  await expect(target.get('a')).rejects.toEqual(code('data_damaged'));
  inner.files.set('b', (inner.files.get('b') as Uint8Array).slice(0, -1));
  await expect(target.get('b')).rejects.toEqual(code('data_damaged'));
  inner.files.set('b', new Uint8Array());
  await expect(target.get('b')).rejects.toEqual(code('data_damaged'));
});

test('another key, a damaged key record and a target with other files are refused', async () => {
  const inner = memoryTarget();
  await encryptedTarget(inner, { key }).put('a', bytes('a'));
  const other = encryptedTarget(inner, { key: new Uint8Array(32) });
  await expect(other.get('a')).rejects.toEqual(code('key_wrong'));
  await expect(other.put('a', bytes('b'))).rejects.toEqual(code('key_wrong'));
  expect(text(await encryptedTarget(inner, { key }).get('a'))).toBe('a');
  const record = [...inner.files.keys()].find((path) => path.startsWith('cairn-keys/')) as string;
  for (const content of ['{', 'null', '1', '{}', '']) {
    inner.files.set(record, bytes(content));
    const damaged = encryptedTarget(inner, { key });
    await expect(damaged.get('a')).rejects.toEqual(code('data_damaged'));
  }
  const plain = memoryTarget(new Map([['a', bytes('a')]]));
  const refused = encryptedTarget(plain, { key }).put('b', bytes('b'));
  await expect(refused).rejects.toEqual(code('not_encrypted'));
  expect([...plain.files.keys()]).toEqual(['a']);
});

test.each(['list', 'put'] as const)(
  'a target whose %s fails once is asked again',
  async (method) => {
    const inner = memoryTarget();
    let fails = true;
    const failing = async (path: string, content: Uint8Array) => {
      if (!fails) return inner[method](path, content) as never;
      fails = false;
      // Only the answer is lost.
      await inner[method](path, content);
      throw new TypeError('offline');
    };
    const target = encryptedTarget({ ...inner, [method]: failing }, { key });
    await expect(target.put('a', bytes('a'))).rejects.toThrow('offline');
    await target.put('a', bytes('a'));
    expect(text(await target.get('a'))).toBe('a');
    expect([...inner.files.keys()].filter((path) => path.startsWith('cairn-keys/'))).toHaveLength(
      1,
    );
  },
);

test('a list that never shows its key: objects come back, and one key record is made', async () => {
  const inner = memoryTarget();
  const list = async (prefix: string) =>
    (await inner.list(prefix)).filter((path) => !path.startsWith('cairn-keys/'));
  const target = encryptedTarget({ ...inner, list }, { key });
  for (const path of ['a', 'b']) {
    await target.put(path, bytes(path));
    expect(text(await target.get(path))).toBe(path);
  }
  // An object that no key opens has them read again.
  inner.files.set('c', new Uint8Array([4, 1]));
  await expect(target.get('c')).rejects.toEqual(code('data_damaged'));
  expect([...inner.files.keys()].filter((path) => path.startsWith('cairn-keys/'))).toHaveLength(1);
  // Another page cannot know: it asks again later, and makes no key beside that of the sealed
  // objects.
  const other = encryptedTarget({ ...inner, list }, { key });
  await expect(other.put('d', bytes('d'))).rejects.toThrow('does not list their key yet');
  expect(inner.files.has('d')).toBe(false);
  expect(text(await encryptedTarget(inner, { key }).get('a'))).toBe('a');
});

test('two devices that begin an empty target at once lose nothing, in whatever order it answers', async () => {
  const property = fc.asyncProperty(fc.scheduler(), async (scheduler) => {
    const inner = memoryTarget();
    const slow = {
      put: scheduler.scheduleFunction(inner.put),
      get: scheduler.scheduleFunction(inner.get),
      list: scheduler.scheduleFunction(inner.list),
      delete: scheduler.scheduleFunction(inner.delete),
    };
    const devices = ['a', 'b'].map((name) => ({ name, target: encryptedTarget(slow, { key }) }));
    const written = devices.map(async ({ name, target }) => {
      for (const n of [1, 2]) await target.put(`${name}/${n}`, bytes(`${name}${n}`));
    });
    let isDone = false;
    const all = Promise.all(written).finally(() => {
      isDone = true;
    });
    // Cryptography is not scheduled: it ends at its own time.
    while (!isDone) {
      await scheduler.waitIdle();
      await new Promise((resolve) => setTimeout(resolve));
    }
    await all;
    const plain = memoryTarget(inner.files);
    for (const target of [encryptedTarget(plain, { key }), encryptedTarget(plain, { key })]) {
      for (const name of ['a/1', 'a/2', 'b/1', 'b/2'])
        expect(text(await target.get(name))).toBe(name.replace('/', ''));
    }
  });
  await fc.assert(property, runs(50));
});

test('a device finds what another one sealed with a key of its own, made meanwhile', async () => {
  const [one, other] = [memoryTarget(), memoryTarget()];
  const early = encryptedTarget(one, { key });
  await early.put('a', bytes('a'));
  await encryptedTarget(other, { key }).put('b', bytes('b'));
  for (const [path, content] of other.files) one.files.set(path, content);
  expect(text(await early.get('b'))).toBe('b');
  const stranger = encryptedTarget(one, { key: new Uint8Array(32) });
  await expect(stranger.get('a')).rejects.toEqual(code('key_wrong'));
});

test('a target that cannot give one of two keys is unreachable, and its objects are not damaged', async () => {
  const [one, other] = [memoryTarget(), memoryTarget()];
  await encryptedTarget(one, { key }).put('a', bytes('a'));
  await encryptedTarget(other, { key }).put('b', bytes('b'));
  for (const [path, content] of one.files) other.files.set(path, content);
  for (const path of [...other.files.keys()].filter((path) => path.startsWith('cairn-keys/'))) {
    const get = async (asked: string) => {
      if (asked === path) throw new TypeError('offline');
      return other.get(asked);
    };
    const target = encryptedTarget({ ...other, get }, { key });
    for (const name of ['a', 'b']) await expect(target.get(name)).rejects.toThrow('offline');
  }
  const target = encryptedTarget(other, { key });
  expect([text(await target.get('a')), text(await target.get('b'))]).toEqual(['a', 'b']);
});
