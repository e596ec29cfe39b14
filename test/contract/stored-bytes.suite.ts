import { describe, expect, test } from 'vitest';
import type { ClientFixture } from './client-fixture.ts';
import { PlatformBlob } from './platform-blob.ts';

const MEGABYTE = 1024 * 1024;

/** One document for each way to hold three megabytes. */
const DOCUMENTS: readonly [string, () => object][] = [
  ['a Blob', () => ({ file: new PlatformBlob([new Uint8Array(3 * MEGABYTE)]) })],
  [
    'Blobs in a Map and an array',
    () => {
      const blob = new PlatformBlob([new Uint8Array(MEGABYTE)]);
      return { files: new Map([['a', [blob, blob]]]), last: { file: blob } };
    },
  ],
  ['an ArrayBuffer', () => ({ file: new ArrayBuffer(3 * MEGABYTE) })],
  ['a typed array', () => ({ file: new Uint16Array(1.5 * MEGABYTE) })],
  ['text', () => ({ file: 'x'.repeat(3 * MEGABYTE) })],
];

/** The bytes that estimate(), listBackups() and verify() report. */
export function storedBytesSuite(fixture: ClientFixture): void {
  describe('the bytes of a collection', () => {
    test.each(DOCUMENTS)('include those of %s', async (_, make) => {
      await fixture.renew();
      const things = fixture.documents();
      await things.insert({ _id: 'small' });
      await things.insert({ _id: 'large', ...make() });
      await things.createBackup();
      const estimate = async () => {
        const { collections } = await fixture.db.storage.estimate();
        return collections.find(({ collection }) => collection === things.name);
      };
      const verdict = await things.verify();
      const [backup] = await things.listBackups();
      const open = await estimate();
      for (const bytes of [open?.bytes, backup?.bytes, verdict.bytes]) {
        expect(bytes).toBeGreaterThanOrEqual(3 * MEGABYTE);
        expect(bytes).toBeLessThan(3 * MEGABYTE + 2000);
      }
      await fixture.reopen();
      expect(await estimate()).toMatchObject({ bytes: open?.bytes, backup_bytes: 0 });
      const restored = fixture.documents();
      await restored.delete('large');
      await restored.save();
      expect(await restored.verify()).toMatchObject({ whole: true, documents: 1 });
      const [kept] = await restored.listBackups();
      expect(kept?.bytes).toBe(backup?.bytes);
    });
  });
}
