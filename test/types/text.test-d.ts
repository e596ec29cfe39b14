import { expectTypeOf, test } from 'vitest';
import { Database } from '../../src/index.ts';
import { contains, fold, searchWords, startsWith, words } from '../../src/text/index.ts';

interface Note {
  title: string;
  about?: string;
  words: string[];
  meta: { words?: string[] };
  size: number;
}

const db = new Database({ name: 'types' });
const notes = new db.Collection<Note>({ name: 'notes', type: 'DOCUMENT_BASED' });
const anything = new db.Collection({ name: 'any', type: 'DOCUMENT_BASED' });

test('criteria fit fields of strings', () => {
  notes.filter({ title: contains('a'), about: startsWith('a', { ignore_case: true }) });
  notes.live({ words: startsWith('a'), size: { $gt: 1 } });
  anything.filter({ title: contains('a') });
  // @ts-expect-error a number
  notes.filter({ size: contains('a') });
  // @ts-expect-error no such option
  contains('a', { ignoreCase: true });
});

test('criteria of words fit a path of strings', () => {
  notes.filter(searchWords('words', 'a'));
  notes.filter({ ...searchWords('meta.words', 'a'), size: 1 });
  anything.filter(searchWords('words', 'a'));
  // @ts-expect-error a path is a string
  searchWords(1, 'a');
});

test('texts', () => {
  expectTypeOf(fold(undefined)).toBeString();
  expectTypeOf(words('a')).toEqualTypeOf<string[]>();
  // @ts-expect-error a number
  fold(1);
});
