/** A change as a line of a packed page has it. */
export const good = { id: 'a', version: '1', fields: { count: 1 } };

export const lineOf = (line: unknown) =>
  `${typeof line === 'string' ? line : JSON.stringify(line)}\n`;

export const linesOf = (...lines: unknown[]) => lines.map(lineOf).join('');

/** Fields that look like JSON. */
const badFields = [
  ...['{"x":1,}', '{,"x":1}', '{"x":1"y":2}', '{"x":1,,"y":2}', '{"x":1;"y":2}', '{"x"}', '{"x":}'],
  ...['{x:1}', "{'x':1}", '{"x":1 2}', '{"x":1}}', '{"x":{"y":1}', '{"x":[1}', '{"x":1]', '{1:1}'],
  ...['[1,]', '[,1]', '[1 2]', '[1,,2]', '[1}', '[[1],]', '{"y":1,}', '{"y":[1,]}'].map(inX),
  ...['01', '1.', '.5', '+1', '-', '--1', '0x1', '1_0', '-01', 'NaN', 'tru', 'nulls', ''].map(inX),
  ...['"\t"', '"\u0001"', '"\\x"', '"\\u12"', '"', '"a" "b"', '"\\"'].map(inX),
];

function inX(value: string): string {
  return `{"x":${value}}`;
}

/** Lines that no server of ours sends: nothing of their page is taken. */
export const badLines: [string, string][] = [
  ['half a line', linesOf(good, good).slice(0, -10)],
  ['no end of the last line', linesOf(good).trimEnd()],
  ['an empty line', linesOf(good, '')],
  ['a line that is a list', linesOf([good])],
  ['a line that is null', linesOf(null)],
  ['the document of another', linesOf({ ...good, fields: { _id: 'b' } })],
  ['fields that are a list', linesOf({ ...good, fields: [] })],
  ['fields of a deletion', linesOf({ ...good, deleted: true })],
  ['neither fields nor deletion', linesOf({ id: 'a', version: '1' })],
  ['a version that is a number', linesOf({ ...good, version: 1 })],
  ['an endless version', linesOf({ ...good, version: 'x'.repeat(201) })],
  ['no version', linesOf({ id: 'a', fields: {} })],
  ['a line that hides another', linesOf('{"id":"a","version":"1","fields":{"x":1},"y":{"z":1}}x}')],
  ['two documents', linesOf('{"id":"a","version":"1","fields":{"x":1},"fields":{"x":2}}x}')],
  ['a forbidden key', linesOf('{"id":"a","version":"1","fields":{"__proto__":{}}}')],
  ['a key inside', linesOf('{"id":"a","version":"1","fields":{"x":{"__proto__":1}}}')],
  ['an endless number', linesOf('{"id":"a","version":"1","fields":{"x":1e999}}')],
  ['one behind a space', linesOf('{"id":"a","version":"1","fields":{"x": 1e999}}')],
  ['one in a list', linesOf('{"id":"a","version":"1","fields":{"x":[ -1e999]}}')],
  ['many digits', linesOf(`{"id":"a","version":"1","fields":{"x":\t${'9'.repeat(400)}}}`)],
  ['an unknown mark', linesOf({ ...good, fields: { x: { $x: 1 } } })],
  [
    'a deep document',
    linesOf(`{"id":"a","version":"1","fields":{"x":${'['.repeat(2000)}${']'.repeat(2000)}}}`),
  ],
  ...badFields.map((fields): [string, string] => [
    `the fields ${JSON.stringify(fields)}`,
    linesOf(`{"id":"a","version":"1","fields":${fields}}`),
  ]),
  ['too many lines', linesOf(...Array(20_001).fill(good))],
  ['too many bytes', linesOf(...Array(20).fill({ ...good, x: 'x'.repeat(1e6) }))],
  ['an endless line', 'x'.repeat(17e6)],
];
