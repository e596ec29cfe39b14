import { expect, test } from 'vitest';
import { Database, memoryDriver } from '../../src/index.ts';
import { fc, runs } from '../setup/properties.ts';
import { wordsOf } from './naive-search.ts';

/** Some letters of each script that the platform knows, and signs between words. */
function lettersByScript(): string[][] {
  const letters: string[] = [];
  for (let code = 0; code < 0x32000; code++) {
    const letter = String.fromCodePoint(code);
    if (/\p{L}|\p{M}|\p{N}/u.test(letter)) letters.push(letter);
  }
  const scripts: string[][] = [];
  for (let left = letters; left.length > 0; ) {
    const first = left[0] as string;
    const name = SCRIPTS.find((script) => new RegExp(`\\p{sc=${script}}`, 'u').test(first));
    const own = new RegExp(`\\p{sc=${name ?? 'Zyyy'}}`, 'u');
    const found = left.filter((letter) => own.test(letter));
    scripts.push(found.length > 0 ? found : [first]);
    left = left.slice(1).filter((letter) => !own.test(letter));
  }
  return scripts;
}

const SCRIPTS =
  `Adlm Ahom Arab Armn Avst Bali Bamu Bass Batk Beng Bhks Bopo Brah Brai Bugi Buhd Cakm Cans
  Cari Cham Cher Copt Cprt Cyrl Deva Dogr Dsrt Dupl Egyp Elba Elym Ethi Geor Glag Gong Gonm Goth Gran
  Grek Gujr Guru Hang Hani Hano Hatr Hebr Hira Hluw Hmng Hmnp Hung Ital Java Kali Kana Khar Khmr Khoj
  Knda Kthi Lana Laoo Latn Lepc Limb Lina Linb Lisu Lyci Lydi Mahj Maka Mand Mani Marc Medf Mend Merc
  Mero Mlym Modi Mong Mroo Mtei Mult Mymr Nand Narb Nbat Newa Nkoo Nshu Ogam Olck Orkh Orya Osge Osma
  Palm Pauc Perm Phag Phli Phlp Phnx Plrd Prti Rjng Rohg Runr Samr Sarb Saur Sgnw Shaw Shrd Sidd Sind
  Sinh Sogd Sogo Sora Soyo Sund Sylo Syrc Tagb Takr Tale Talu Taml Tang Tavt Telu Tfng Tglg Thaa Thai
  Tibt Tirh Ugar Vaii Wara Wcho Xpeo Xsux Yezi Yiii Zanb Zinh Zyyy`.split(/\s+/);

const scripts = lettersByScript();
const word = fc
  .constantFrom(...scripts)
  .chain((letters) => fc.array(fc.constantFrom(...letters), { minLength: 1, maxLength: 8 }))
  .map((letters) => letters.join(''));
const between = fc.constantFrom(' ', '. ', '-', '　', '؟ ', ', ', '\n', ' 😀 ', '\ud800 ');
const text = fc
  .array(fc.tuple(word, between), { maxLength: 6 })
  .map((parts) => parts.flat().join(''));

test('texts in all scripts are found as by a naive scan, before and after a reload', async () => {
  expect(scripts.length).toBeGreaterThan(120);
  const run = async (texts: string[], asked: string[]) => {
    const storage = memoryDriver();
    const open = () => {
      const db = new Database({ name: 'scripts', storage });
      const notes = new db.Collection<{ text: string }>({
        ...{ name: 'notes', type: 'DOCUMENT_BASED', caching: false },
        indexes: [{ text: 'text' }],
      });
      return { db, notes };
    };
    const first = open();
    await first.notes.insertMany(texts.map((each, at) => ({ _id: `${at}`, text: each })));
    const check = async ({ notes }: typeof first) => {
      for (const typed of [...asked, ...texts]) {
        if (typed.length > 1000) continue;
        const wanted = wordsOf(typed);
        // Quotes and signs of exclusion are not in these.
        const expected = texts.flatMap((each, at) => {
          const own = new Set(wordsOf(each));
          return wanted.length > 0 && wanted.every((one) => own.has(one)) ? [`${at}`] : [];
        });
        const hits = await notes.search(typed.replaceAll('-', ' '), { prefix: false, limit: 100 });
        expect(hits.map(({ document }) => document._id).sort()).toEqual(expected.sort());
      }
    };
    await check(first);
    await first.db.close();
    const again = open();
    await check(again);
    await again.db.close();
  };
  await fc.assert(
    fc.asyncProperty(
      fc.array(text, { minLength: 1, maxLength: 12 }),
      fc.array(word, { maxLength: 4 }),
      run,
    ),
    runs(200),
  );
});

test('words of scripts without spaces are found, and completed, from each of their beginnings', async () => {
  const texts = [
    ...['ประเทศไทยเป็นประเทศที่ตั้งอยู่ในเอเชียตะวันออกเฉียงใต้', 'ฉันชอบกินข้าวผัดกับไก่และดื่มน้ำส้ม'],
    ...[
      'コンピューターサイエンスを勉強しています',
      '中华人民共和国成立于一九四九年',
      '新幹線で大阪から京都まで',
    ],
    ...['ភាសាខ្មែរពិរោះណាស់', 'ປະເທດລາວມີທິວທັດສວຍງາມ', 'မြန်မာနိုင်ငံသည်အရှေ့တောင်အာရှတွင်'],
  ];
  const db = new Database({ name: 'beginnings', storage: memoryDriver() });
  const notes = new db.Collection<{ text: string }>({
    ...{ name: 'notes', type: 'DOCUMENT_BASED' },
    indexes: [{ text: 'text' }],
  });
  await notes.insertMany(texts.map((text, at) => ({ _id: `${at}`, text })));
  for (const [at, text] of texts.entries())
    for (const word of new Set(wordsOf(text)))
      for (let length = 1; length <= word.length; length++) {
        const typed = word.slice(0, length);
        const hits = await notes.search(typed, { highlight: true });
        const hit = hits.find(({ document }) => document._id === `${at}`);
        expect([typed, word, hit?.matches?.text?.length]).not.toEqual([typed, word, undefined]);
        if (length === word.length) continue;
        const suggested = await notes.suggest(typed, { limit: 1000 });
        expect([typed, suggested.map((one) => one.text)]).toEqual([
          typed,
          expect.arrayContaining([word]),
        ]);
      }
  await db.close();
});
