const CONSONANT = '(?:[^aeiouy]|(?<=[aeiou]|^)y)';
const VOWEL = '(?:[aeiou]|(?<![aeiou]|^)y)';
/** Vowels with consonants behind them: once, more than once; a vowel; a short end. */
const ONCE = new RegExp(`^${CONSONANT}*${VOWEL}+${CONSONANT}`);
const TWICE = new RegExp(`^${CONSONANT}*(?:${VOWEL}+${CONSONANT}+){2}`);
const EXACTLY_ONCE = new RegExp(`^${CONSONANT}*${VOWEL}+${CONSONANT}+${VOWEL}*$`);
const HAS_VOWEL = new RegExp(`^${CONSONANT}*${VOWEL}`);
const SHORT = new RegExp(`^${CONSONANT}+${VOWEL}[^aeiouwxy]$`);
const DOUBLE = /([^aeioulsz])\1$/;

type Endings = readonly (readonly [ending: string, to: string])[];

const SECOND: Endings = [
  ['ational', 'ate'],
  ['tional', 'tion'],
  ['enci', 'ence'],
  ['anci', 'ance'],
  ['izer', 'ize'],
  ['bli', 'ble'],
  ['alli', 'al'],
  ['entli', 'ent'],
  ['eli', 'e'],
  ['ousli', 'ous'],
  ['ization', 'ize'],
  ['ation', 'ate'],
  ['ator', 'ate'],
  ['alism', 'al'],
  ['iveness', 'ive'],
  ['fulness', 'ful'],
  ['ousness', 'ous'],
  ['aliti', 'al'],
  ['iviti', 'ive'],
  ['biliti', 'ble'],
  ['logi', 'log'],
];

const THIRD: Endings = [
  ['icate', 'ic'],
  ['ative', ''],
  ['alize', 'al'],
  ['iciti', 'ic'],
  ['ical', 'ic'],
  ['ful', ''],
  ['ness', ''],
];

const FOURTH =
  /(?:al|ance|ence|er|ic|able|ible|ant|ement|ment|ent|(?<=[st])ion|ou|ism|ate|iti|ous|ive|ize)$/;

/** The stem of an English word by Porter's algorithm of 1980. Words of other letters stay. */
function stemEnglish(word: string): string {
  if (word.length < 3 || !/^[a-z]+$/.test(word)) return word;
  let stem = plural(word);
  if (/y$/.test(stem) && HAS_VOWEL.test(stem.slice(0, -1))) stem = `${stem.slice(0, -1)}i`;
  stem = replaced(replaced(stem, SECOND), THIRD);
  const fourth = FOURTH.exec(stem);
  if (fourth && TWICE.test(stem.slice(0, fourth.index))) stem = stem.slice(0, fourth.index);
  if (/e$/.test(stem)) {
    const shorter = stem.slice(0, -1);
    if (TWICE.test(shorter) || (EXACTLY_ONCE.test(shorter) && !SHORT.test(shorter))) stem = shorter;
  }
  return /ll$/.test(stem) && TWICE.test(stem) ? stem.slice(0, -1) : stem;
}

/** Without the ending of a plural, or of a verb. */
function plural(word: string): string {
  let stem = word;
  if (/(?:ss|i)es$/.test(stem)) stem = stem.slice(0, -2);
  else if (/[^s]s$/.test(stem)) stem = stem.slice(0, -1);
  if (/eed$/.test(stem)) return ONCE.test(stem.slice(0, -3)) ? stem.slice(0, -1) : stem;
  const [ending] = /(?:ed|ing)$/.exec(stem) ?? [''];
  const shorter = stem.slice(0, stem.length - ending.length);
  if (!ending || !HAS_VOWEL.test(shorter)) return stem;
  if (/(?:at|bl|iz)$/.test(shorter)) return `${shorter}e`;
  if (DOUBLE.test(shorter)) return shorter.slice(0, -1);
  return EXACTLY_ONCE.test(shorter) && SHORT.test(shorter) ? `${shorter}e` : shorter;
}

function replaced(word: string, endings: Endings): string {
  const found = endings
    .filter(([ending]) => word.endsWith(ending))
    .sort(([a], [b]) => b.length - a.length)[0];
  if (!found) return word;
  const before = word.slice(0, -found[0].length);
  return ONCE.test(before) ? before + found[1] : word;
}

/** What a word may be about to end with. */
const LATER = `ings edly ers ors ness ments ations ies able ively ances ically ilities
  ously`.split(/\s+/);

/** The stems of the words that an unfinished one may become: of `cooki`, `cook` is one. */
function stemsBegunBy(typed: string): ReadonlySet<string> {
  const stems = new Set<string>();
  for (const ending of LATER)
    for (let from = 0; from < ending.length; from++)
      if (typed.endsWith(ending.slice(0, from)))
        for (let to = from + 1; to <= ending.length; to++)
          stems.add(stemEnglish(typed + ending.slice(from, to)));
  return stems;
}

export const english = { of: stemEnglish, begunBy: stemsBegunBy };
