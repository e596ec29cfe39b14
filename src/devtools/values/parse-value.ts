const NAME = /[\p{ID_Start}$_][\p{ID_Continue}$]*/uy;
const NUMBER = /[-+]?(?:0x[\da-f]+n?|\d+n|Infinity|NaN|(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?)/iy;
const REGEXP = /\/((?:\\[^\n]|\[(?:\\[^\n]|[^\]\\\n])*\]|[^/\\[\n])+)\/([a-z]*)/y;

const CONSTANTS: ReadonlyMap<string, unknown> = new Map<string, unknown>([
  ['true', true],
  ['false', false],
  ['null', null],
  ['undefined', undefined],
  ['NaN', Number.NaN],
  ['Infinity', Number.POSITIVE_INFINITY],
]);

const BINARY = [
  'Int8Array',
  'Uint8Array',
  'Uint8ClampedArray',
  'Int16Array',
  'Uint16Array',
  'Int32Array',
  'Uint32Array',
  'Float16Array',
  'Float32Array',
  'Float64Array',
  'BigInt64Array',
  'BigUint64Array',
];

const KINDS = 'Date("2026-01-31T12:00:00Z"), 10n, /x/i, Map([[1, 2]]), Set([1]), Uint8Array([1])';

class TextReader {
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

/**
 * Reads a value from text: JSON, or a JavaScript literal with unquoted keys, `Date("…")`, `10n`,
 * `/…/i`, `Map([…])`, `Set([…])` and typed arrays. Runs no code.
 *
 * @param kept The values that `$1`, `$2` … stand for, see `printValue`.
 * @throws {TextError} with line and column.
 */
export function parseValue(text: string, kept: readonly unknown[] = []): unknown {
  const reader = new TextReader(text);
  const value = readValue(reader, kept);
  if (!reader.isAtEnd) throw reader.error(`The value ends before "${reader.next}".`);
  return value;
}

/** Reads an object; `{}` for a text without content. @throws {TextError} */
export function parseObject(text: string, kept?: readonly unknown[]): Record<string, unknown> {
  const reader = new TextReader(text);
  if (reader.isAtEnd) return {};
  if (reader.next !== '{') throw reader.error('Write an object: { name: "Ada" }.');
  return parseValue(text, kept) as Record<string, unknown>;
}

function readValue(reader: TextReader, kept: readonly unknown[]): unknown {
  const first = reader.next;
  if (first === '{') return readObject(reader, kept);
  if (first === '[') return readArray(reader, kept);
  if (first === '"' || first === "'" || first === '`') return reader.string();
  if (first === '/') return readRegExp(reader);
  if (first !== '' && /[-+.\d]/.test(first)) return readNumber(reader);
  const began = reader.offset;
  let name = reader.match(NAME);
  if (name === 'new') name = reader.match(NAME);
  if (name === undefined) {
    const found =
      first === '' ? 'The text ends where a value is expected' : `"${first}" is no value`;
    throw reader.error(`${found}.`);
  }
  if (reader.next === '(') return readCall(reader, name, kept, began);
  if (CONSTANTS.has(name)) return CONSTANTS.get(name);
  const index = /^\$\d+$/.test(name) ? Number(name.slice(1)) - 1 : -1;
  if (index >= 0 && index < kept.length) return kept[index];
  if (index >= 0) throw reader.error(`"${name}" stands for no value of this document.`, began);
  throw reader.error(`"${name}" is no value. Put text in quotes; other kinds: ${KINDS}.`, began);
}

function readObject(reader: TextReader, kept: readonly unknown[]): Record<string, unknown> {
  const object: Record<string, unknown> = {};
  reader.expect('{');
  while (!reader.take('}')) {
    const began = reader.offset;
    const key = readKey(reader);
    if (key === '__proto__') throw reader.error('"__proto__" cannot be stored.', began);
    if (Object.hasOwn(object, key)) throw reader.error(`"${key}" is given twice.`, began);
    reader.expect(':');
    object[key] = readValue(reader, kept);
    if (reader.next !== '}') reader.expect(',');
  }
  return object;
}

function readKey(reader: TextReader): string {
  const first = reader.next;
  if (first === '"' || first === "'") return reader.string();
  const key = reader.match(NAME) ?? reader.match(/\d+/y);
  if (key === undefined) {
    const found = first === '' ? 'The text ends' : `"${first}" stands`;
    throw reader.error(`${found} where the name of a field is expected.`);
  }
  return key;
}

function readArray(reader: TextReader, kept: readonly unknown[]): unknown[] {
  const array: unknown[] = [];
  reader.expect('[');
  while (!reader.take(']')) {
    if (reader.take(',')) {
      array.length++;
      continue;
    }
    array.push(readValue(reader, kept));
    if (reader.next !== ']') reader.expect(',');
  }
  return array;
}

function readNumber(reader: TextReader): number | bigint {
  const began = reader.offset;
  const text = reader.match(NUMBER);
  const follows = reader.text[reader.offset] ?? '';
  if (text === undefined || /[\p{ID_Continue}$.]/u.test(follows))
    throw reader.error('This is no number.', began);
  if (!text.endsWith('n')) {
    const sign = text.startsWith('-') ? -1 : 1;
    return sign * Number(text.replace(/^[-+]/, ''));
  }
  const digits = BigInt(text.slice(0, -1).replace(/^[-+]/, ''));
  return text.startsWith('-') ? -digits : digits;
}

function readRegExp(reader: TextReader): RegExp {
  const began = reader.offset;
  REGEXP.lastIndex = began;
  const found = REGEXP.exec(reader.text);
  if (!found) throw reader.error('The regular expression has no end.', began);
  reader.offset += found[0].length;
  return regExp(reader, found[1] as string, found[2] as string, began);
}

function regExp(reader: TextReader, source: string, flags: string, began: number): RegExp {
  try {
    return new RegExp(source, flags);
  } catch (error) {
    throw reader.error(`${(error as Error).message}.`, began);
  }
}

/** Reads `Date("…")` and the like: a name, and values in parentheses. */
function readCall(
  reader: TextReader,
  name: string,
  kept: readonly unknown[],
  began: number,
): unknown {
  const args: unknown[] = [];
  reader.expect('(');
  while (!reader.take(')')) {
    args.push(readValue(reader, kept));
    if (reader.next !== ')') reader.expect(',');
  }
  try {
    return construct(name, args);
  } catch (error) {
    throw reader.error((error as Error).message, began);
  }
}

function construct(name: string, [first, second]: readonly unknown[]): unknown {
  if (name === 'Date') return dateOf(first);
  if (name === 'RegExp')
    return new RegExp(textOf(first), second === undefined ? '' : textOf(second));
  if (name === 'Map') {
    const pairs = listOf(first ?? [], name);
    if (pairs.every((pair) => Array.isArray(pair) && pair.length === 2))
      return new Map(pairs as [unknown, unknown][]);
    throw new TypeError('A Map takes pairs: Map([["key", "value"]]).');
  }
  if (name === 'Set') return new Set(listOf(first ?? [], name));
  if (name === 'BigInt') return BigInt(first as string);
  if (name === 'ArrayBuffer') return Uint8Array.from(numbersIn(first, name)).buffer;
  const Binary = BINARY.includes(name) && (globalThis as Record<string, unknown>)[name];
  if (!Binary) throw new TypeError(`There is no kind "${name}". There are: ${KINDS}.`);
  const Numbers = Binary as { from(items: unknown[]): object };
  return Numbers.from(name.startsWith('Big') ? listOf(first, name) : numbersIn(first, name));
}

function dateOf(given: unknown): Date {
  const date = new Date(given as string | number);
  const isInvalid = Number.isNaN(date.getTime());
  if ((typeof given === 'string' && !isInvalid) || typeof given === 'number') return date;
  throw new TypeError('This is no date. Write Date("2026-01-31T12:00:00Z").');
}

function textOf(value: unknown): string {
  if (typeof value === 'string') return value;
  throw new TypeError('RegExp takes texts: RegExp("^Os", "i").');
}

function listOf(value: unknown, name: string): unknown[] {
  if (Array.isArray(value)) return value;
  throw new TypeError(`${name} takes a list: ${name}([…]).`);
}

function numbersIn(value: unknown, name: string): number[] {
  const list = listOf(value, name);
  if (list.every((item) => typeof item === 'number')) return list as number[];
  throw new TypeError(`${name} takes numbers: ${name}([1, 2]).`);
}

class TextError extends Error {
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
