import type { Completion, CompletionContext, CompletionSource } from '@codemirror/autocomplete';
import { syntaxTree } from '@codemirror/language';
import type { SyntaxNode } from '@lezer/common';
import { keyName } from './locate.ts';
import { FIELD_OPERATORS, LOGIC_OPERATORS } from './operators.ts';

const KEY = /['"]?[\w$.]*$/;

/** The parser takes an object whose end is not written yet for a pattern. */
const OBJECTS: ReadonlySet<string> = new Set(['ObjectExpression', 'ObjectPattern']);

const operators = (list: Readonly<Record<string, string>>): Completion[] =>
  Object.entries(list).map(([label, detail]) => ({ label, detail, type: 'keyword' }));

const fieldOperators = operators(FIELD_OPERATORS);
const logicOperators = operators(LOGIC_OPERATORS);

/** Completes keys of criteria: fields found in the data, and operators where they may stand. */
export function criteriaCompletions(paths: () => readonly string[]): CompletionSource {
  return (context) => {
    const object = objectAround(context);
    const typed = context.matchBefore(KEY);
    if (!object || !typed || (typed.text === '' && !context.explicit)) return null;
    const options = isOperand(object, context.state.doc.toString())
      ? fieldOperators
      : [...paths().map(fieldCompletion), ...logicOperators];
    return { from: typed.from, options: options.map(asKey), validFor: KEY };
  };
}

/** The object whose key is written at the cursor, or none where a value is. */
function objectAround({ state, pos }: CompletionContext): SyntaxNode | undefined {
  const before = state.sliceDoc(0, pos).replace(KEY, '').trimEnd();
  if (!/[{,]$/.test(before)) return undefined;
  let node: SyntaxNode | null = syntaxTree(state).resolveInner(pos, -1);
  while (node && !OBJECTS.has(node.name)) node = node.parent;
  return node ?? undefined;
}

/** Whether the object is what a field is compared with, and not criteria of their own. */
function isOperand(object: SyntaxNode, text: string): boolean {
  let { parent } = object;
  if (parent?.name === 'AssignmentExpression') parent = parent.parent;
  const key = parent?.name === 'Property' ? parent.firstChild : null;
  if (!key) return false;
  const name = keyName(key, text);
  return name === '$not' || !name.startsWith('$');
}

const fieldCompletion = (path: string): Completion => ({
  label: path,
  type: 'property',
  boost: 1, // fields before operators
});

/** Quotes where the language wants them. */
function asKey(completion: Completion): Completion {
  const { label } = completion;
  const key = /^[\w$]+$/.test(label) ? label : `'${label}'`;
  return { ...completion, apply: `${key}: ` };
}
