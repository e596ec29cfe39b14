import { syntaxTree } from '@codemirror/language';
import { EditorState } from '@codemirror/state';
import { expect, test, vi } from 'vitest';
import { criteriaLanguage, wholeTree } from '../../demo/panels/query/editor/language.ts';
import { locate } from '../../demo/panels/query/editor/locate.ts';

const FIRST = Array.from({ length: 500 }, (_, at) => `{ name: 'City ${at}' }`).join(', ');
const TEXT = `{ $or: [${FIRST}, { population: { $gtt: 5 } }] }`;
const PLACE = '$or[500].population.$gtt';

test('an error is marked at its place on a machine too slow to parse the text in 20 ms', () => {
  const state = slowly(() => EditorState.create({ doc: TEXT, extensions: criteriaLanguage }));
  expect(syntaxTree(state).length).toBeLessThan(TEXT.length);
  const span = locate(wholeTree(state), TEXT, PLACE);
  expect(TEXT.slice(span?.from, span?.to)).toBe('$gtt');
});

/** Runs `work` under a clock that goes on by a second each time it is read. */
function slowly<T>(work: () => T): T {
  let now = Date.now();
  const clock = vi.spyOn(Date, 'now').mockImplementation(() => {
    now += 1000;
    return now;
  });
  try {
    return work();
  } finally {
    clock.mockRestore();
  }
}
