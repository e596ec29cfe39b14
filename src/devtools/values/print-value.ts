import { isPlainObject, nameOf, tagOf } from '../../codec/kinds.ts';

export interface PrintedValue {
  readonly text: string;
  /** Values that text cannot hold, such as a Blob: `$1` in the text stands for the first. */
  readonly kept: readonly unknown[];
  /** The kinds in it that JSON lacks, such as `Date`. */
  readonly kinds: readonly string[];
}

/** Longest line that holds an array or object whole. */
const LINE = 72;
/** Most items of binary data that are printed. */
const MOST_BYTES = 64;
/** Most characters of a text, and most values, that are looked at to show a line. */
const MOST_SHOWN = 500;
const IDENTIFIER = /^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u;

/** Prints a value as `parseValue` reads it. */
export function printValue(value: unknown): PrintedValue {
  const printer = new Printer();
  const text = printer.print(value, '');
  return { text, kept: printer.kept, kinds: [...printer.kinds].sort() };
}

/** A value on one line, cut off where it is long. */
export function printShort(value: unknown, most = 80): string {
  if (typeof value === 'function') return shortened(value.toString().replaceAll(/\s+/g, ' '), most);
  if (typeof value !== 'string') return shortened(new Printer(true).print(value, ''), most);
  return shortened(value.slice(0, MOST_SHOWN).replaceAll(/\s*\n\s*/g, ' '), most);
}

/** The arguments of a query on one line, without options that are not given. */
export function printQuery(params: unknown, options: object | undefined): string {
  const given = Object.entries(options ?? {}).filter(([, value]) => value !== undefined);
  const more = given.length > 0 ? `, ${printShort(Object.fromEntries(given), 60)}` : '';
  return printShort(params) + more;
}

function shortened(text: string, most: number): string {
  return text.length > most ? `${text.slice(0, most - 1)}…` : text;
}

class Printer {
  readonly kept: unknown[] = [];
  readonly kinds = new Set<string>();
  /** Whether the text is only shown. */
  readonly #isShort: boolean;
  /** Values that are still to be shown. */
  #left = MOST_SHOWN;

  constructor(isShort = false) {
    this.#isShort = isShort;
  }

  print(value: unknown, indent: string): string {
    if (this.#isShort && this.#left-- <= 0) return '…';
    switch (typeof value) {
      case 'string':
        return JSON.stringify(this.#isShort ? value.slice(0, MOST_SHOWN) : value);
      case 'number':
        if (!Number.isFinite(value) || Object.is(value, -0)) this.kinds.add('number beyond JSON');
        return Object.is(value, -0) ? '-0' : String(value);
      case 'bigint':
        this.kinds.add('bigint');
        return `${value}n`;
      case 'undefined':
        this.kinds.add('undefined');
        return 'undefined';
      case 'object':
        return value === null ? 'null' : this.#object(value, indent);
      default:
        return String(value);
    }
  }

  #object(value: object, indent: string): string {
    if (Array.isArray(value))
      return this.#list('[', this.#items(this.#seen(value), indent), ']', indent);
    if (isPlainObject(value)) {
      const fields = this.#seen(Object.keys(value)).map(
        (key) =>
          `${IDENTIFIER.test(key) ? key : JSON.stringify(key)}: ${this.print(value[key], `${indent}  `)}`,
      );
      return this.#list('{', fields, '}', indent, ' ');
    }
    const kind = tagOf(value);
    this.kinds.add(kind === 'View' ? value.constructor.name : (kind ?? nameOf(value)));
    switch (kind) {
      case 'Date':
        return Number.isNaN((value as Date).getTime())
          ? 'Date(NaN)'
          : `Date("${(value as Date).toISOString()}")`;
      case 'RegExp':
        return String(value);
      case 'Map':
        return `Map(${this.print(this.#first(value as Map<unknown, unknown>), indent)})`;
      case 'Set':
        return `Set(${this.print(this.#first(value as Set<unknown>), indent)})`;
      case 'ArrayBuffer':
        return this.#binary('ArrayBuffer', new Uint8Array(value as ArrayBuffer), value);
      case 'View':
        if (value instanceof DataView) return this.#keep(value, 'DataView');
        return this.#binary(value.constructor.name, value as Uint8Array, value);
      default:
        return this.#keep(value, describeBlob(value));
    }
  }

  /** The items that are looked at: a line shows the first. */
  #seen<Item>(items: readonly Item[]): readonly Item[] {
    return this.#isShort ? items.slice(0, this.#left) : items;
  }

  #first(values: Iterable<unknown>): unknown[] {
    if (!this.#isShort) return Array.from(values);
    const first: unknown[] = [];
    for (const value of values) {
      if (first.length >= this.#left) break;
      first.push(value);
    }
    return first;
  }

  #items(values: readonly unknown[], indent: string): string[] {
    // A hole stays one: `[1, , 2]`.
    const items = Array.from(values, (item, index) =>
      index in values ? this.print(item, `${indent}  `) : '',
    );
    if (items.at(-1) === '') items.push('');
    if (items.includes('')) this.kinds.add('sparse array');
    return items;
  }

  #list(open: string, items: string[], close: string, indent: string, space = ''): string {
    if (items.length === 0) return open + close;
    const line = `${open}${space}${items.join(', ')}${space}${close}`;
    if (this.#isShort || (line.length + indent.length <= LINE && !line.includes('\n'))) return line;
    return `${open}\n${items.map((item) => `${indent}  ${item}`).join(',\n')}\n${indent}${close}`;
  }

  #binary(name: string, items: ArrayLike<number | bigint>, value: object): string {
    if (items.length > MOST_BYTES) return this.#keep(value, `${name} of ${items.length} items`);
    const list = Array.from(items, (item) => this.print(item, '')).join(', ');
    return `${name}([${list}])`;
  }

  #keep(value: object, description: string): string {
    if (this.#isShort) return `‹${description}›`;
    this.kept.push(value);
    return `$${this.kept.length} /* ${description} */`;
  }
}

function describeBlob(value: object): string {
  const { size, type, name } = value as Partial<File>;
  if (size === undefined) return nameOf(value); // a key or a handle
  const kind = name === undefined ? 'Blob' : 'File';
  const named = name === undefined ? '' : ` ${JSON.stringify(name).replaceAll('*/', '* /')}`;
  return `${kind}${named}, ${size} bytes${type ? `, ${type.replaceAll('*/', '* /')}` : ''}`;
}
