import type { SyntaxNode, Tree } from '@lezer/common';

interface Span {
  readonly from: number;
  readonly to: number;
}

/**
 * Finds the place of an error, such as `$or[1].age.$gt` or `pipeline[1].$group`, in the text: as
 * near as possible, or `undefined` if the text has no object.
 */
export function locate(tree: Tree, text: string, place: string): Span | undefined {
  const stage = /^pipeline\[(\d+)\]\.?/.exec(place);
  let object = first(tree.topNode, stage ? 'ArrayExpression' : 'ObjectExpression');
  let rest = place;
  let found: Span | undefined;
  if (object && stage) {
    object = itemsOf(object)[Number(stage[1])] ?? null;
    rest = rest.slice(stage[0].length);
    if (object) found = { from: object.from, to: object.to };
  }
  while (object && rest !== '') {
    const property = propertyOf(object, rest, text);
    if (!property) break;
    const { key, name } = property;
    found = { from: key.from, to: key.to };
    rest = rest.slice(name.length).replace(/^\./, '');
    let value = key.parent?.lastChild ?? null;
    const item = /^\[(\d+)\]\.?/.exec(rest);
    if (item && value?.name === 'ArrayExpression') {
      value = itemsOf(value)[Number(item[1])] ?? null;
      rest = rest.slice(item[0].length);
    }
    object = value?.name === 'ObjectExpression' ? value : null;
  }
  return found;
}

/** The first syntax error. */
export function firstSyntaxError(tree: Tree): Span | undefined {
  let found: Span | undefined;
  tree.cursor().iterate(({ type, from, to }) => {
    // A missing token has no length: mark the character before it.
    if (type.isError)
      found ??= to > from ? { from, to } : { from: Math.max(0, from - 1), to: from };
    return found === undefined;
  });
  return found;
}

function first(top: SyntaxNode, name: string): SyntaxNode | null {
  let found: SyntaxNode | null = null;
  top.cursor().iterate((node) => {
    if (node.name === name) found ??= node.node;
    return found === null;
  });
  return found;
}

/** The property that `place` begins with: the longest that fits, since keys may contain dots. */
function propertyOf(object: SyntaxNode, place: string, text: string) {
  return object
    .getChildren('Property')
    .flatMap(({ firstChild: key }) => (key ? [{ key, name: keyName(key, text) }] : []))
    .filter(({ name }) => place === name || /^[.[]/.test(place.slice(name.length)))
    .filter(({ name }) => place.startsWith(name))
    .sort((a, b) => b.name.length - a.name.length)[0];
}

/** The name of a key, without its quotes. */
export function keyName({ from, to }: Span, text: string): string {
  return text.slice(from, to).replace(/^(['"])(.*)\1$/s, '$2');
}

function itemsOf(array: SyntaxNode): SyntaxNode[] {
  const items: SyntaxNode[] = [];
  for (let item = array.firstChild; item; item = item.nextSibling) {
    if (!['[', ']', ','].includes(item.name)) items.push(item);
  }
  return items;
}
