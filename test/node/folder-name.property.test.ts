import { expect, test } from 'vitest';
import { folderNameOf } from '../../src/node/files.ts';
import { fc, runs } from '../setup/properties.ts';

const names = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 128 }),
  fc.string({
    unit: fc.constantFrom('a', 'A', '.', '/', '~', '%', 'é', 'e\u0301', '\ud800', '\ude00'),
    maxLength: 128,
  }),
  fc.constantFrom('', '.', '..', '../up', 'CON', 'con', 'com1', 'shop', 'Shop', '%53hop', 'a\0b'),
);

/** What a file system that ignores case and normalises Unicode makes of a name. */
const onLaxSystem = (name: string) => name.normalize('NFD').toUpperCase().normalize('NFC');

test('names that differ have folders that differ on every file system', () => {
  fc.assert(
    fc.property(names, names, (a, b) => {
      expect(onLaxSystem(folderNameOf(a)) === onLaxSystem(folderNameOf(b))).toBe(a === b);
    }),
    runs(2000),
  );
});

test('a folder has a name that every file system takes', () => {
  fc.assert(
    fc.property(names, (name) => {
      const folder = folderNameOf(name);
      expect(folder).toMatch(/^[a-z0-9_~%-]{1,120}$/);
      expect(folder).not.toMatch(/^(con|prn|aux|nul|com\d|lpt\d)$/);
    }),
    runs(1000),
  );
});

test('names stay readable', () => {
  expect(folderNameOf('shop-2')).toBe('shop-2');
  expect(folderNameOf('Shop')).toBe('%53hop');
  expect(folderNameOf('\ud800a')).toBe('%ud800a');
  expect(folderNameOf('con')).toBe('%63on');
  expect(folderNameOf('x'.repeat(128))).toMatch(/^x{40}~[0-9a-f]{64}$/);
});
