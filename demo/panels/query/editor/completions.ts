import type { Completion, CompletionContext, CompletionSource } from '@codemirror/autocomplete';
import type { SyntaxNode } from '@lezer/common';
import { wholeTree } from './language.ts';
import { keyName } from './locate.ts';
import {
  ACCUMULATORS,
  EXPRESSIONS,
  FIELD_OPERATORS,
  LOGIC_OPERATORS,
  STAGES,
} from './operators.ts';

const KEY = /['"]?[\w$.]*$/;

/** The parser treats an unfinished object as a pattern. */
const OBJECTS: ReadonlySet<string> = new Set(['ObjectExpression', 'ObjectPattern']);

const operators = (list: Readonly<Record<string, string>>): Completion[] =>
  Object.entries(list).map(([label, detail]) => ({ label, detail, type: 'keyword' }));

const fieldOperators = operators(FIELD_OPERATORS);
const logicOperators = operators(LOGIC_OPERATORS);
const stages = operators(STAGES);
const accumulators = operators(ACCUMULATORS);
const expressions = operators(EXPRESSIONS);
/** Below these, objects are expressions. */
const COMPUTING: ReadonlySet<string> = new Set(['$expr', '$project', '$set', '$addFields']);

/** Completes keys of criteria and pipelines: fields of the data, and the operators allowed here. */
export function criteriaCompletions(paths: () => readonly string[]): CompletionSource {
  return (context) => {
    const object = objectAround(context);
    const typed = context.matchBefore(KEY);
    if (!object || !typed || (typed.text === '' && !context.explicit)) return null;
    const options = optionsAt(object, context.state.doc.toString(), paths);
    return { from: typed.from, options: options.map(asKey), validFor: KEY };
  };
}

function optionsAt(
  object: SyntaxNode,
  text: string,
  paths: () => readonly string[],
): readonly Completion[] {
  const stage = stageAround(object);
  if (stage?.from === object.from) return stages;
  const outer = keysAround(object, text);
  const isInner = isOperand(outer);
  const isOfGroup = stage && /^\{\s*\$group\b/.test(text.slice(stage.from, stage.to));
  if (isOfGroup) return isInner ? accumulators : [{ label: '_id', detail: 'of the group' }];
  const computing = outer.findIndex((key) => COMPUTING.has(key));
  if (computing > 0 || outer[computing] === '$expr') return expressions;
  return isInner ? fieldOperators : [...paths().map(fieldCompletion), ...logicOperators];
}

/** The stage of a pipeline that holds an object, or is it. */
function stageAround(object: SyntaxNode): SyntaxNode | undefined {
  let outermost: SyntaxNode | undefined;
  for (let node: SyntaxNode | null = object; node; node = node.parent)
    if (OBJECTS.has(node.name)) outermost = node;
  return /^Array/.test(outermost?.parent?.name ?? '') ? outermost : undefined;
}

/** The object whose key is at the cursor, if the cursor is at a key. */
function objectAround({ state, pos }: CompletionContext): SyntaxNode | undefined {
  const before = state.sliceDoc(0, pos).replace(KEY, '').trimEnd();
  if (!/[{,]$/.test(before)) return undefined;
  let node: SyntaxNode | null = wholeTree(state).resolveInner(pos, -1);
  while (node && !OBJECTS.has(node.name)) node = node.parent;
  return node ?? undefined;
}

/** The keys that an object is below, the nearest first. */
function keysAround(object: SyntaxNode, text: string): string[] {
  const keys: string[] = [];
  for (let node = object.parent; node; node = node.parent) {
    const key = /Property$/.test(node.name) ? node.firstChild : null;
    if (key) keys.push(keyName(key, text));
  }
  return keys;
}

/** Whether an object below these holds operators of a field rather than criteria. */
function isOperand([key]: readonly string[]): boolean {
  return key !== undefined && (key === '$not' || !key.startsWith('$'));
}

const fieldCompletion = (path: string): Completion => ({
  label: path,
  type: 'property',
  boost: 1, // fields before operators
});

/** Quotes keys that are not identifiers. */
function asKey(completion: Completion): Completion {
  const { label } = completion;
  const key = /^[\w$]+$/.test(label) ? label : `'${label}'`;
  return { ...completion, apply: `${key}: ` };
}
