interface Tokens {
  readonly tokens: { readonly type: string; tag: string; readonly content: string }[];
}

/**
 * Rule of markdown-it: a header without text is a plain cell, which screen readers do not announce
 * as a header.
 */
export function withoutEmptyHeaders({ tokens }: Tokens): void {
  for (const [index, token] of tokens.entries()) {
    const [text, close] = tokens.slice(index + 1, index + 3);
    if (token.type === 'th_open' && close && text?.content === '') token.tag = close.tag = 'td';
  }
}
