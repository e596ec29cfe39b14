import { createCipheriv, createHash, createHmac, hkdfSync } from 'node:crypto';
import { expect, test } from 'vitest';
import { collectionKey, cryptFile, IdCipher } from '../../src/replication/sealing-keys.ts';
import { Random } from '../setup/random.ts';

const KEY = new Uint8Array(32).fill(7);

/** As the docs say, by another library. */
function derived(...names: readonly string[]): Buffer {
  const info = JSON.stringify(['cairn replication 1', ...names]);
  return Buffer.from(hkdfSync('sha256', KEY, '', info, 32));
}

const cipherOf = (key: Buffer, counter: Buffer) => createCipheriv('aes-256-ctr', key, counter);

test('any bytes of a file are encrypted as those of the whole, and as elsewhere', async () => {
  const key = await collectionKey(KEY, 'orders');
  const random = new Random(1);
  for (let count = 0; count < 200; count++) {
    const content = Uint8Array.from({ length: random.below(200) }, () => random.below(256));
    const sha256 = createHash('sha256').update(content).digest('hex');
    const cipher = cipherOf(derived('file', 'orders', sha256), Buffer.alloc(16));
    const whole = cipher.update(content);
    const from = random.below(content.length + 1);
    const part = content.slice(from, from + random.below(60));
    const sealed = await cryptFile(key, 'orders', sha256, from, part);
    expect(Buffer.from(sealed)).toEqual(whole.subarray(from, from + part.length));
    expect(await cryptFile(key, 'orders', sha256, from, sealed)).toEqual(part);
  }
});

test('bytes behind 64 GB have counters of their own', async () => {
  const key = await collectionKey(KEY, 'orders');
  const from = 2 ** 36 + 5;
  const counter = Buffer.alloc(16);
  counter.writeBigUInt64BE(2n ** 32n, 8);
  const whole = cipherOf(derived('file', 'orders', 'x'), counter).update(Buffer.alloc(20));
  const sealed = await cryptFile(key, 'orders', 'x', from, new Uint8Array(15));
  expect(Buffer.from(sealed)).toEqual(whole.subarray(5));
});

test('ids are encrypted as elsewhere, each in one form, and opened again', async () => {
  const ids = await IdCipher.open(KEY, 'orders');
  const random = new Random(2);
  const seen = new Set<string>();
  for (let count = 0; count < 300; count++) {
    const id = String.fromCharCode(
      ...Array.from({ length: 1 + random.below(20) }, () => random.below(0x1_0000)),
    );
    const sealed = await ids.seal(id);
    const plain = Buffer.from(JSON.stringify(id).slice(1, -1));
    const mac = createHmac('sha256', derived('id mac', 'orders')).update(plain).digest();
    const counter = mac.subarray(0, 16);
    // WebCrypto counts in 64 bits, Node in 128: the same for so few blocks, but at a carry.
    const text = cipherOf(derived('id text', 'orders'), counter).update(plain);
    expect(sealed).toBe(Buffer.concat([counter, text]).toString('base64url'));
    expect(await ids.seal(id)).toBe(sealed);
    expect(await ids.open(sealed)).toBe(id);
    seen.add(sealed);
    const at = random.below(sealed.length);
    const other = sealed[at] === 'A' ? 'B' : 'A';
    const changed = sealed.slice(0, at) + other + sealed.slice(at + 1);
    await expect(ids.open(changed)).rejects.toThrow();
  }
  expect(seen.size).toBe(300);
});

test('keys of other collections make other ids', async () => {
  const [one, two] = await Promise.all(['a', 'b'].map((name) => IdCipher.open(KEY, name)));
  const sealed = (await one?.seal('order')) as string;
  expect(await two?.seal('order')).not.toBe(sealed);
  await expect(two?.open(sealed)).rejects.toThrow();
});
