import { expect, onTestFinished, test } from 'vitest';
import { Database } from '../../src/index.ts';

const { raw: r } = String;

// Texts: in a literal, formatters leave out what JavaScript does not need.
const foreign = [
  ...[r`\Aab`, r`ab\Z`, r`ab\z`, r`\Q.\E`, r`\h`, r`\R`, r`a\Kb`, r`\x{41}`, r`\o{101}`, r`\\\A`],
  ...[r`[[:alpha:]]`, r`[^[:^space:]_]`, r`\p{L}`, r`\P{Lu}`, r`\pL`, r`\u{41}`],
];
const common = [
  ...[r`\\A`, r`\\p{1}`, r`[:;]`, r`[a:]`, r`::`, r`\bA\B`, r`\d\D\s\S\w\W`, r`\x41\u0041\cA\0`],
  ...[r`(?<a>b)\k<a>`, r`\n\r\t\v\f`, r`\.\-\/`, r`p{2}`, r`[[:]`],
];

function open() {
  const db = new Database({ name: 'foreign patterns', storage: 'memory' });
  onTestFinished(() => db.close());
  const names = new db.Collection({ name: 'names', type: 'DOCUMENT_BASED' });
  const values = new db.Collection({ name: 'values', type: 'KEY_VALUE_BASED' });
  return { names, values };
}

test.each(foreign)(
  'the syntax of PCRE is refused wherever a pattern may stand: %s',
  async (source) => {
    const { names, values } = open();
    await values.set('list', ['ab']);
    const { _id } = await names.insert({ list: ['ab'] });
    const pattern = new RegExp(source);
    const refused = { code: 'operand_invalid', message: expect.stringContaining("is PCRE's") };
    for (const [criteria, place] of [
      [{ 'a.b': pattern }, 'a.b'],
      [{ a: { $regex: source } }, 'a.$regex'],
      [{ a: { $options: 'i', $regex: pattern } }, 'a.$regex'],
      [{ a: { $in: ['x', pattern] } }, 'a.$in[1]'],
      [{ a: { $not: pattern } }, 'a.$not'],
      [{ $expr: { $regexMatch: { input: '$a', regex: source } } }, '$expr.$regexMatch.regex'],
      [{ $expr: { $regexFind: { input: '$a', regex: pattern } } }, '$expr.$regexFind.regex'],
      [
        { $or: [{ b: 1 }, { a: { $elemMatch: { $regex: pattern } } }] },
        '$or[1].a.$elemMatch.$regex',
      ],
    ] as const) {
      await expect(names.count(criteria), place).rejects.toMatchObject({ ...refused, place });
      await expect(names.live(criteria).ready).rejects.toMatchObject(refused);
    }
    await expect(names.deleteMany({ a: pattern })).rejects.toMatchObject(refused);
    await expect(names.patch(_id, { $pull: { list: pattern } })).rejects.toMatchObject(refused);
    await expect(values.filter('list', pattern)).rejects.toMatchObject(refused);
    await expect(values.remove('list', { $regex: source })).rejects.toMatchObject(refused);
    // As a value it is one like any other.
    await names.insert({ pattern });
    expect(await names.count({ pattern: { $eq: pattern } })).toBe(1);
  },
);

test('what both know, and what the flag u allows, is accepted', async () => {
  const { names } = open();
  await names.insert({ a: 'é' });
  for (const source of common) {
    await names.count({ a: new RegExp(source) });
    await names.count({ a: { $regex: source, $options: 'i' } });
  }
  expect(await names.count({ a: /^\p{L}$/u })).toBe(1);
  expect(await names.count({ a: { $regex: r`^\u{e9}$`, $options: 'u' } })).toBe(1);
  expect(await names.count({ a: /^[\p{L}--[a-z]]$/v })).toBe(1);
});
