import {
  autocompletion,
  closeBrackets,
  closeBracketsKeymap,
  completionKeymap,
} from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { bracketMatching, syntaxHighlighting } from '@codemirror/language';
import { setDiagnostics } from '@codemirror/lint';
import { EditorState, Prec } from '@codemirror/state';
import { EditorView, keymap } from '@codemirror/view';
import { useSignalEffect } from '@preact/signals';
import { CriteriaError } from 'cairndb';
import { useEffect, useRef } from 'preact/hooks';
import { codeClasses } from '../../../parts/code-classes.ts';
import { fieldPaths } from '../field-paths.ts';
import { queryError, queryText, run } from '../query.ts';
import { criteriaCompletions } from './completions.ts';
import { criteriaLanguage, wholeTree } from './language.ts';
import { firstSyntaxError, locate } from './locate.ts';
import { UnreadableQuery } from './read-query.ts';
import '../../../parts/code-colours.css';
import './criteria-editor.css';

/** The editor for criteria, a pipeline or a function, with completion and error marks. */
export function CriteriaEditor() {
  const host = useRef<HTMLDivElement>(null);
  const editor = useRef<EditorView>(undefined);

  useEffect(() => {
    if (!host.current) return;
    const view = new EditorView({
      parent: host.current,
      doc: queryText.peek(),
      extensions: [
        Prec.high(keymap.of([{ key: 'Mod-Enter', run: runByKey }])),
        history(),
        bracketMatching(),
        closeBrackets(),
        keymap.of([
          ...closeBracketsKeymap,
          ...defaultKeymap,
          ...historyKeymap,
          ...completionKeymap,
        ]),
        criteriaLanguage,
        autocompletion({ icons: false, override: [criteriaCompletions(() => fieldPaths.peek())] }),
        syntaxHighlighting(codeClasses),
        EditorView.lineWrapping,
        EditorState.tabSize.of(2),
        EditorView.contentAttributes.of({
          'aria-label': 'Criteria, a pipeline or a function',
          'aria-describedby': 'query-problem',
        }),
        EditorView.updateListener.of(({ docChanged, state }) => {
          if (docChanged) queryText.value = state.doc.toString();
        }),
      ],
    });
    editor.current = view;
    return () => view.destroy();
  }, []);

  // An example was chosen.
  useSignalEffect(() => {
    const { value } = queryText;
    const view = editor.current;
    if (!view || view.state.doc.toString() === value) return;
    view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: value } });
  });

  useSignalEffect(() => {
    const error = queryError.value;
    if (editor.current) showError(editor.current, error);
  });

  return <div class="criteria-editor" ref={host} data-part="editor" />;
}

function runByKey(): boolean {
  run();
  return true;
}

function showError(view: EditorView, error: Error | undefined): void {
  const span = placeOf(view.state, error);
  const diagnostics =
    error && span ? [{ ...span, severity: 'error' as const, message: error.message }] : [];
  view.dispatch(setDiagnostics(view.state, diagnostics));
  if (span) view.dispatch({ selection: { anchor: span.from, head: span.to } });
}

function placeOf(state: EditorState, error: Error | undefined) {
  const tree = wholeTree(state);
  if (error instanceof CriteriaError && error.place) {
    return locate(tree, state.doc.toString(), error.place);
  }
  return error instanceof UnreadableQuery ? firstSyntaxError(tree) : undefined;
}
