import { expect, test } from 'vitest';
import type { Coroutine } from '../../src/async/coroutine.ts';
import { encode } from '../../src/codec/capture.ts';
import { WarmSetWriter } from '../../src/engine/first-reads/checkpoint-work.ts';
import { plainSettings } from '../../src/protocol/settings.ts';
import { memoryDriver } from '../../src/storage/drivers/memory-driver.ts';
import { StoredRecord } from '../../src/storage/segments/stored-record.ts';

test('scattered documents are read a few segments at a time', async () => {
  const records = new Map<string, StoredRecord>();
  for (let n = 1; n <= 100; n++) {
    const record = new StoredRecord(`p${n}`, n, 0, undefined, undefined);
    record.segment = n;
    record.size = 300;
    records.set(record.key, record);
  }
  let reading = 0;
  let most = 0;
  const context = {
    storage: await memoryDriver().open('test', { damaged: () => undefined }),
    settings: plainSettings('people', 'DOCUMENT_BASED'),
    recent: { keys: records.keys() },
    records: {
      pin: () => () => undefined,
      table: records,
      bodies: {
        *of({ key }: StoredRecord): Coroutine<unknown> {
          most = Math.max(most, ++reading);
          yield new Promise((resolve) => setTimeout(resolve));
          reading--;
          return encode({ text: key }, key);
        },
      },
    },
  };
  const writer = new WarmSetWriter(
    context as unknown as ConstructorParameters<typeof WarmSetWriter>[0],
  );
  const covered = new Set(Array.from(records.values(), ({ segment }) => segment));
  const warm = await writer.next(covered, true);
  expect(warm?.value.keys).toEqual([...records.keys()]);
  expect(most).toBeLessThanOrEqual(16);
  expect(reading).toBe(0);
});
