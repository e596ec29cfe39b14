interface Tokens {
  readonly env: { readonly relativePath?: string };
  readonly tokens: {
    readonly type: string;
    readonly content: string;
    attrSet(name: string, value: string): void;
  }[];
}

/** Rule of markdown-it: in the page of errors, the row of each code has the code as its anchor. */
export function withErrorAnchors({ tokens, env }: Tokens): void {
  if (env.relativePath !== 'errors.md') return;
  for (const [index, row] of tokens.entries()) {
    const [, code] = /^`(\w+)`$/.exec(tokens[index + 2]?.content ?? '') ?? [];
    if (row.type === 'tr_open' && code) row.attrSet('id', code);
  }
}
