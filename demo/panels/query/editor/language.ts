import { javascriptLanguage } from '@codemirror/lang-javascript';
import type { EditorState } from '@codemirror/state';
import type { Tree } from '@lezer/common';

/** In a program, a leading brace would start a block. */
export const criteriaLanguage = javascriptLanguage.configure({ top: 'SingleExpression' });

/**
 * The syntax tree of the whole text. `syntaxTree()` of CodeMirror ends where its 20 ms for
 * parsing ran out, and an error in the rest would be marked at the wrong place.
 */
export function wholeTree(state: EditorState): Tree {
  return criteriaLanguage.parser.parse(state.doc.toString());
}
