import { describe, expect, test } from 'vitest';
import { fold, words } from '../../src/text/index.ts';
import { fc, runs } from '../setup/properties.ts';

const letters = fc.string({
  unit: fc.constantFrom(...'aAäÄéÉßẞøØłŁıİiIσςΣйЙµſﬁ한가がか字 -.\u0301\u0308'),
});
const anything = fc.oneof(letters, fc.string({ unit: 'binary' }), fc.string());

describe('fold', () => {
  test.each([
    ['Crème BRÛLÉE', 'creme brulee'],
    ['Łódź, Ærø, Đurđa, Þór, œuvre', 'lodz, aero, durda, thor, oeuvre'],
    ['STRASSE straße', 'strasse strasse'],
    ['İstanbul ısı', 'istanbul isi'],
    ['ΟΔΟΣ οδός', 'οδοσ οδοσ'],
    ['Ёлка', 'елка'],
    ['ﬁn Ⅷ ½', 'fin viii 1⁄2'],
    ['مُحَمَّد', 'محمد'],
    ['', ''],
  ])('%j is %j', (text, folded) => {
    expect(fold(text)).toBe(folded);
  });

  test('signs that change the meaning stay', () => {
    expect(fold('が')).not.toBe(fold('か'));
    expect(fold('की')).not.toBe(fold('क'));
  });

  test('undefined and null are empty', () => {
    expect([fold(undefined), fold(null), words(undefined)]).toEqual(['', '', []]);
  });

  test('does not depend on case or on how accents are stored', () => {
    fc.assert(
      fc.property(anything, (text) => {
        const folded = fold(text);
        expect(fold(folded)).toBe(folded);
        for (const form of ['NFC', 'NFD', 'NFKC', 'NFKD'])
          expect(fold(text.normalize(form))).toBe(folded);
      }),
      runs(1000),
    );
  });

  test('what a text begins with, its folded form begins with', () => {
    fc.assert(
      fc.property(letters, letters, (start, rest) => {
        expect(fold(start + rest).startsWith(fold(start))).toBe(true);
      }),
      runs(1000),
    );
  });

  test('any number of accents in a row ends, and counts as its beginning', () => {
    expect(fold(`a${'\u0300\u0316'.repeat(1_000_000)}`)).toBe('a');
    const below = '\u0323\u20e8'; // one of them stays
    expect(fold(`a${below.repeat(1_000_000)}`)).toBe(`a${'\u20e8'.repeat(15)}`);
  });

  test('case does not matter, letter by letter', () => {
    const different: string[] = [];
    for (let code = 0; code < 0x1_0000; code++) {
      const letter = String.fromCharCode(code);
      const forms = new Set([letter, letter.toUpperCase(), letter.toLowerCase()].map(fold));
      // A mark, whose capital is a letter.
      const hasIotaBelow = letter.normalize('NFD').includes('\u0345');
      if (forms.size > 1 && !hasIotaBelow) different.push(letter);
    }
    expect(different).toEqual([]);
  });
});

describe('words', () => {
  test('are distinct, folded, in the order of the text', () => {
    expect(words("Å to zee, to Å: don't 3×4 #e-mail")).toEqual(
      ['a', 'to', 'zee', 'don', 't', '3', '4', 'e', 'mail'], //
    );
  });

  test('are the runs of letters and digits of a naive loop', () => {
    fc.assert(
      fc.property(anything, (text) => {
        const expected: string[] = [];
        let word = '';
        for (const sign of `${fold(text)} `) {
          if (/\p{L}|\p{N}|\p{M}/u.test(sign)) word += sign;
          else {
            if (word && !expected.includes(word)) expected.push(word);
            word = '';
          }
        }
        expect(words(text)).toEqual(expected);
      }),
      runs(500),
    );
  });
});
