import { gcm } from '@noble/ciphers/aes.js';
import { describe, expect, test } from 'vitest';
import { deriveKeys, unwrapDataKey, wrapDataKey } from '../../src/storage/encryption/data-keys.ts';
import { type Bytes, decryptGcm, encryptGcm } from '../../src/storage/encryption/sealing.ts';
import { importBase, wrappingKey } from '../../src/storage/encryption/wrapping-key.ts';

const bytes = (hex: string): Bytes =>
  Uint8Array.from(hex.replaceAll(' ', '').match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
const hex = (data: Uint8Array) =>
  Array.from(data, (one) => one.toString(16).padStart(2, '0')).join('');
const text = (value: string): Bytes => new TextEncoder().encode(value);
const aes = (key: string) =>
  crypto.subtle.importKey('raw', bytes(key), 'AES-GCM', false, ['encrypt', 'decrypt']);

/**
 * McGrew and Viega, The Galois/Counter Mode of Operation, test cases 13 to 16, which NIST's
 * validation has, too.
 */
const GCM = [
  {
    ...{ key: '00'.repeat(32), nonce: '00'.repeat(12), plain: '', additional: '' },
    sealed: '530f8afbc74536b9a963b4f1c4cb738b',
  },
  {
    ...{ key: '00'.repeat(32), nonce: '00'.repeat(12), plain: '00'.repeat(16), additional: '' },
    sealed: 'cea7403d4d606b6e074ec5d3baf39d18 d0d1c8a799996bf0265b98b5d48ab919',
  },
  {
    key: 'feffe9928665731c6d6a8f9467308308 feffe9928665731c6d6a8f9467308308',
    nonce: 'cafebabefacedbaddecaf888',
    plain:
      'd9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a721c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b39',
    additional: 'feedfacedeadbeeffeedfacedeadbeefabaddad2',
    sealed:
      '522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa8cb08e48590dbb3da7b08b1056828838c5f61e6393ba7a0abcc9f662 76fc6ece0f4e1768cddf8853bb2d551b',
  },
];

describe('AES-256-GCM', () => {
  test.each(GCM)('seals a known answer, with both ciphers', async (vector) => {
    const { plain, sealed } = vector;
    const [nonce, additional] = [bytes(vector.nonce), bytes(vector.additional)];
    const key = await aes(vector.key.replaceAll(' ', ''));
    const wanted = hex(bytes(sealed));
    expect(hex(await encryptGcm(key, nonce, bytes(plain), additional))).toBe(wanted);
    expect(hex(await decryptGcm(key, nonce, bytes(sealed), additional))).toBe(hex(bytes(plain)));
    const cipher = gcm(bytes(vector.key), nonce, additional);
    expect(hex(cipher.encrypt(bytes(plain)))).toBe(wanted);
  });

  test('refuses a changed tag', async () => {
    const [, { key, nonce, sealed }] = GCM as [unknown, (typeof GCM)[number]];
    const changed = bytes(sealed);
    changed[31] = (changed[31] as number) ^ 1;
    await expect(decryptGcm(await aes(key), bytes(nonce), changed, bytes(''))).rejects.toThrow();
  });
});

describe('PBKDF2-HMAC-SHA-256', () => {
  /** Of RFC 7914, section 11, the first 32 bytes; the salts are theirs. */
  test.each([
    ['passwd', 'salt', 1, '55ac046e56e3089fec1691c22544b605f94185216dde0465e68b9d57c20dacbc'],
    [
      'Password',
      'NaCl',
      80_000,
      '4ddcd8f60b98be21830cee5ef22701f9641a4418d04c0414aeff08876b34ab56',
    ],
  ])('makes the known key of %s', async (password, salt, rounds, wanted) => {
    const origin = { kind: 'password', salt: text(salt), rounds } as const;
    const key = await wrappingKey(await importBase('password', text(password)), origin);
    const nonce = new Uint8Array(12);
    const ours = await encryptGcm(key, nonce, text('proof'), text(''));
    expect(hex(ours)).toBe(hex(gcm(bytes(wanted), nonce, text('')).encrypt(text('proof'))));
  });
});

test('AES key wrap is that of RFC 3394, 4.6', async () => {
  const kek = await crypto.subtle.importKey(
    'raw',
    bytes('000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f'),
    'AES-KW',
    false,
    ['wrapKey', 'unwrapKey'],
  );
  const data = bytes('00112233445566778899aabbccddeeff000102030405060708090a0b0c0d0e0f');
  const wrapped = await wrapDataKey(kek, data, 'place');
  expect(hex(wrapped)).toBe(
    '28c9f404c4b810f4cbccb35cfb87f8263f5786e2d80ed326cbc7f0e71a99f43bfb988b9b7a02dd21',
  );
  expect(hex(await unwrapDataKey(kek, wrapped, 'place'))).toBe(hex(data));
});

test('deriving the keys of a database overwrites its data key', async () => {
  const dataKey = new Uint8Array(32).fill(9);
  const { pages, pageBytes } = await deriveKeys(dataKey);
  expect(dataKey.every((byte) => byte === 0)).toBe(true);
  const nonce = new Uint8Array(12);
  const sealed = gcm(pageBytes, nonce).encrypt(text('left'));
  expect(hex(await decryptGcm(pages, nonce, sealed as Bytes, text('')))).toBe(hex(text('left')));
});
