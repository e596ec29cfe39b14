import type { DocumentCollection } from '../../src/page/collections/document-collection.ts';
import type { Browser } from './browser.ts';
import { Tab } from './tab.ts';

/**
 * A document that calls change in place, with the tokens of the changes that it has seen, and their
 * number.
 */
interface Entry {
  _id?: string;
  n: number;
  tokens: string[];
  group?: boolean;
  word?: string | number;
  /** Of an entry that an upsert has made: its tab. */
  owner?: string;
}

/** How a token is written. */
export type LedgerWrite = (typeof LEDGER_WRITES)[number];

export const LEDGER_WRITES = [
  'patch',
  'patchOwn',
  'patchOne',
  'patchMany',
  'upsert',
  'modify',
  'refused',
] as const;

const SHARED = 'shared';

/** The last refuses to count words, after the others have. */
const ENTRIES: readonly Entry[] = [
  { _id: SHARED, n: 0, tokens: [] },
  { _id: 'one', n: 0, tokens: [], group: true },
  { _id: 'two', n: 0, tokens: [], group: true },
  { _id: 'three', n: 0, tokens: [], group: true, word: 'text' },
];

/** Update operators, `patchMany` and `modify` of one tab, and what they leave. */
export class Ledger {
  readonly #entries: DocumentCollection<Entry>;
  /** The entry that this tab alone writes: it goes with the tab. */
  readonly #own: string;

  constructor({ id, db }: Tab) {
    this.#own = `of tab ${id}`;
    this.#entries = new db.Collection<Entry>({
      ...{ name: 'ledger', type: 'DOCUMENT_BASED', save_timeout: 1 },
    });
  }

  /** Makes the entries of all tabs. */
  async prepare(): Promise<void> {
    await this.#entries.insertMany(ENTRIES as Entry[]);
  }

  /** Makes the entry of the tab. */
  begin(): Promise<unknown> {
    return this.#entries.insert({ _id: this.#own, n: 0, tokens: [] });
  }

  /** @returns whether the token is there now. */
  async write(how: LedgerWrite, token: string): Promise<boolean> {
    const changes = { $inc: { n: 1 }, $push: { tokens: token } };
    switch (how) {
      case 'patch':
        return (await this.#entries.patch(SHARED, changes)) !== undefined;
      case 'patchOwn':
        return (await this.#entries.patch(this.#own, changes)) !== undefined;
      case 'patchOne': {
        const criteria = { tokens: { $exists: true }, group: { $exists: false } };
        const sort = { owner: 1, _id: -1 } as const;
        return (
          (await this.#entries.patchOne({ _id: SHARED, ...criteria }, changes, { sort })) !==
          undefined
        );
      }
      case 'upsert': {
        const owner = this.#own;
        return (await this.#entries.patchOne({ owner }, changes, { upsert: true })) !== undefined;
      }
      case 'patchMany':
        return (await this.#entries.patchMany({ group: true }, changes)) > 0;
      case 'modify': {
        const add = async ({ n, tokens }: Entry) => ({ n: n + 1, tokens: [...tokens, token] });
        return (await this.#entries.modify(this.#own, add)) !== undefined;
      }
      case 'refused': {
        const counting = { ...changes, $inc: { n: 1, word: 1 } };
        const refusal = this.#entries.patchMany({}, counting as never).then(
          (count) => new Error(`A patchMany that had to be refused changed ${count}.`),
          (error: unknown) => error,
        );
        const error = (await refusal) as Error & { code?: string };
        if (error.code !== 'kind_mismatch') throw error;
        return false;
      }
    }
  }

  /** The tokens that are there, and what is wrong with the entries. */
  async read(): Promise<{ readonly tokens: readonly string[]; readonly problems: string[] }> {
    const entries = await this.#entries.filter({});
    const problems = entries.flatMap(({ _id, n, tokens }) =>
      n === tokens.length ? [] : `entry "${_id}" counts ${n} changes: ${tokens}`,
    );
    const [first, ...others] = entries.filter(({ group }) => group);
    for (const { _id, tokens } of others)
      if (`${tokens}` !== `${first?.tokens}`)
        problems.push(`a patchMany is there in part: ${first?.tokens} / ${tokens} in "${_id}"`);
    const counted = entries.filter((entry) => !entry.group || entry === first);
    return { tokens: counted.flatMap(({ tokens }) => tokens), problems };
  }
}

/** Makes and saves the entries of all tabs: a change replays only if what it changes is there. */
export async function prepareLedger(browser: Browser): Promise<void> {
  const { world } = browser;
  const tab = new Tab(-1, browser);
  await world.hear(new Ledger(tab).prepare());
  await world.hear(tab.db.close());
  tab.kill();
}
