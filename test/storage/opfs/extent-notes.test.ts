import { afterEach, expect, test, vi } from 'vitest';
import type { Storage } from '../../../src/storage/drivers/driver.ts';
import { ExtentNotes } from '../../../src/storage/opfs/extent-notes.ts';

afterEach(() => vi.useRealTimers());

test('nothing is flushed or noted amid the writes of a bulk insert', async () => {
  vi.useFakeTimers();
  const file = { size: 0, extent: { generation: 1, length: 8 }, flush: vi.fn(async () => {}) };
  const write = vi.fn(async () => undefined);
  const notes = new ExtentNotes(file);
  notes.pages.add({ write } as Partial<Storage> as Storage);
  const writeOn = async (looks: number) => {
    for (let look = 0; look < looks; look++) {
      file.size += 1000;
      notes.soon();
      await vi.advanceTimersByTimeAsync(250);
    }
  };
  await writeOn(6);
  expect([file.flush.mock.calls.length, write.mock.calls.length]).toEqual([0, 0]);
  // At rest, or after two seconds of writes.
  await writeOn(2);
  expect([file.flush.mock.calls.length, write.mock.calls.length]).toEqual([1, 1]);
  file.extent = { generation: 1, length: 8000 };
  await writeOn(1);
  await vi.advanceTimersByTimeAsync(500);
  expect(write.mock.calls.length).toBe(2);
  notes.stop();
});
