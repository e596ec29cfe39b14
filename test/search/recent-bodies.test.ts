import { expect, test } from 'vitest';
import { type Coroutine, run } from '../../src/async/coroutine.ts';
import type { Body } from '../../src/codec/body.ts';
import type { RecordBodies } from '../../src/engine/records/record-bodies.ts';
import { recentBodies } from '../../src/engine/search/text-index.ts';
import { StoredRecord } from '../../src/storage/segments/stored-record.ts';

const MB = 1024 * 1024;

/** Storage that notes what is read from it. */
function newStore() {
  const asked: string[] = [];
  const stored = {
    *ofAll(records: readonly StoredRecord[]): Coroutine<Body[]> {
      asked.push(records.map(({ key }) => key).join(''));
      return records.map(({ key }) => key.padEnd(MB));
    },
  } as RecordBodies;
  const records = [...'abcdef'].map(
    (key, rank) => new StoredRecord(key, rank, 0, undefined, undefined),
  );
  const recent = recentBodies();
  const read = (keys: string) => {
    const wanted = [...keys].map((key) => records.find((one) => one.key === key) as StoredRecord);
    const bodies = run(recent(stored, wanted)) as Body[];
    return bodies.map((body) => (body as string).trim()).join('');
  };
  return { asked, records, read };
}

test('what the last searches have found is not read again', () => {
  const { asked, read } = newStore();
  expect(read('ab')).toBe('ab');
  expect(read('bca')).toBe('bca');
  expect(read('cba')).toBe('cba');
  expect(asked).toEqual(['ab', 'c']);
});

test('4 MB of it are kept, of what was found last', () => {
  const { asked, read } = newStore();
  read('abcd');
  read('a');
  read('e');
  expect(read('aecd')).toBe('aecd');
  expect(read('b')).toBe('b');
  expect(asked).toEqual(['abcd', 'e', 'b']);
  // More than there is room for.
  expect(read('abcdef')).toBe('abcdef');
});

test('what is in memory is neither read nor kept', () => {
  const { asked, records, read } = newStore();
  const [a] = records as [StoredRecord];
  a.body = 'a';
  expect(read('ab')).toBe('ab');
  a.body = undefined as never;
  expect(read('ab')).toBe('ab');
  expect(asked).toEqual(['b', 'a']);
});
