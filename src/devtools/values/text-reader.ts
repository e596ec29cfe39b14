/** The text is no value: the message says where and why. */
export class TextError extends Error {
  /** Offset in the text, from 0. */
  readonly offset: number;

  constructor(message: string, text: string, offset: number) {
    const before = text.slice(0, offset).split('\n');
    const column = (before.at(-1)?.length ?? 0) + 1;
    super(`Line ${before.length}, column ${column}: ${message}`);
    this.name = 'TextError';
    this.offset = offset;
  }
}

const SPACE = /(?:\s|\/\/[^\n]*|\/\*[\s\S]*?\*\/)*/y;
const ESCAPES: Readonly<Record<string, string>> = {
  n: '\n',
  r: '\r',
  t: '\t',
  b: '\b',
  f: '\f',
  v: '\v',
  0: '\0',
};

/** Reads a text from its begin to its end. */
export class TextReader {
  readonly text: string;
  offset = 0;

  constructor(text: string) {
    this.text = text;
  }

  get isAtEnd(): boolean {
    this.skipSpace();
    return this.offset >= this.text.length;
  }

  /** The next character after spaces and comments. */
  get next(): string {
    this.skipSpace();
    return this.text[this.offset] ?? '';
  }

  skipSpace(): void {
    SPACE.lastIndex = this.offset;
    SPACE.test(this.text);
    this.offset = SPACE.lastIndex;
  }

  /** Takes a character, if it comes next. */
  take(character: string): boolean {
    if (this.next !== character) return false;
    this.offset++;
    return true;
  }

  expect(character: string): void {
    if (this.take(character)) return;
    const found = this.next === '' ? 'the text ends' : `there is "${this.next}"`;
    throw this.error(`"${character}" is missing, ${found}.`);
  }

  /** Takes what a sticky pattern matches. */
  match(pattern: RegExp): string | undefined {
    this.skipSpace();
    pattern.lastIndex = this.offset;
    const found = pattern.exec(this.text)?.[0];
    if (found === undefined || found === '') return undefined;
    this.offset += found.length;
    return found;
  }

  error(message: string, offset = this.offset): TextError {
    return new TextError(message, this.text, offset);
  }

  /** Reads a string in quotes. */
  string(): string {
    const began = this.offset;
    const quote = this.next;
    this.offset++;
    let value = '';
    for (;;) {
      const character = this.text[this.offset++];
      if (character === quote) return value;
      if (character === undefined || (character === '\n' && quote !== '`'))
        throw this.error('The string has no end.', began);
      value += character === '\\' ? this.#escaped() : character;
    }
  }

  #escaped(): string {
    const name = this.text[this.offset++] ?? '';
    if (name === '\n') return '';
    if (name !== 'u' && name !== 'x') return ESCAPES[name] ?? name;
    const digits = name === 'x' ? /[\da-f]{2}/iy : /[\da-f]{4}|\{[\da-f]{1,6}\}/iy;
    digits.lastIndex = this.offset;
    const found = digits.exec(this.text)?.[0];
    const code = Number.parseInt(found?.replaceAll(/[{}]/g, '') ?? '', 16);
    if (found === undefined || code > 0x10_ff_ff)
      throw this.error(`"\\${name}" needs hexadecimal digits.`);
    this.offset += found.length;
    return found.startsWith('{') ? String.fromCodePoint(code) : String.fromCharCode(code);
  }
}
