import { readdirSync, readFileSync } from 'node:fs';
import MiniSearch from 'minisearch';
import { beforeAll, describe, expect, test } from 'vitest';
import { randomNumbers } from '../../bench/page/documents.mjs';
import { Database, type DocumentCollection, memoryDriver } from '../../src/index.ts';
import { TextWords } from '../../src/query/text/text-words.ts';

interface Section {
  title: string;
  text: string;
}

const folder = new URL('../../docs/', import.meta.url);
const words = new TextWords({ stop_words: [], stem: undefined });
const tokenize = (text: string) => words.of(text);

/** The sections of the manual, without what is generated. */
function readSections(): (Section & { _id: string })[] {
  const pages = readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort();
  const texts = pages
    .filter((page) => page.endsWith('.md') && !page.startsWith('api'))
    .flatMap((page) => readFileSync(new URL(page, folder), 'utf8').split(/\n(?=#+ )/));
  return texts.map((text, at) => {
    const [title = '', ...rest] = text.split('\n');
    return { _id: `${at}`, title, text: rest.join('\n') };
  });
}

const errorsIn = ({ length }: string) => (length < 4 ? 0 : length < 8 ? 1 : 2);

describe('the first ten hits are those of MiniSearch, in its order', () => {
  const sections = readSections();
  const mini = new MiniSearch<Section & { _id: string }>({
    ...{ fields: ['title', 'text'], idField: '_id', tokenize },
    processTerm: (term) => term,
  });
  mini.addAll(sections);
  let stored: DocumentCollection<Section>;

  beforeAll(async () => {
    const db = new Database({ name: 'order', storage: memoryDriver() });
    stored = new db.Collection<Section>({
      ...{ name: 'sections', type: 'DOCUMENT_BASED' },
      indexes: [{ text: { title: 3, text: 1 } }],
    });
    await stored.insertMany(sections);
  });

  test.for([
    { mode: 'all', prefix: false, fuzzy: false },
    { mode: 'all', prefix: true, fuzzy: false },
    { mode: 'all', prefix: false, fuzzy: true },
    { mode: 'any', prefix: false, fuzzy: false },
    { mode: 'any', prefix: true, fuzzy: false },
    { mode: 'any', prefix: false, fuzzy: true },
  ] as const)('%o', async (options) => {
    const random = randomNumbers(1);
    const pick = <T>(list: readonly T[]) => list[Math.floor(random() * list.length)] as T;
    let same = 0;
    for (let asked = 0; asked < 200; asked++) {
      const from = pick(sections.map(({ text }) => text).filter((text) => text.length > 200));
      const first = pick(tokenize(from));
      // MiniSearch counts a word that comes twice once.
      const second = pick(tokenize(from).filter((word) => !word.startsWith(first)));
      const last = options.prefix ? second.slice(0, Math.max(3, second.length - 2)) : second;
      const query = `${first} ${last}`;
      const hits = await stored.search(query, { ...options, limit: 10 });
      const expected = mini.search(query, {
        combineWith: options.mode === 'all' ? 'AND' : 'OR',
        boost: { title: 3 },
        prefix: options.prefix && ((_, at, terms) => at === terms.length - 1),
        fuzzy: options.fuzzy && ((term) => errorsIn(term) || false),
      });
      // Equal scores have no order.
      const scores = new Map(expected.map(({ id, score }) => [id as string, score]));
      const isSame = hits.every(({ document }, at) => {
        const score = expected[at]?.score as number;
        return Math.abs((scores.get(document._id) ?? 0) - score) < score * 1e-9;
      });
      if (isSame && hits.length === Math.min(10, expected.length)) same++;
    }
    // MiniSearch counts two letters that are exchanged as two errors.
    expect(same).toBeGreaterThanOrEqual(options.fuzzy ? 190 : 199);
  });
});
