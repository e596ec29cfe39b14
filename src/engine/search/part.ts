import type { SearchExplanation, SearchHit, Suggestion } from '../../api/search-types.ts';
import { type Coroutine, wait } from '../../async/coroutine.ts';
import { Pace } from '../../async/pace.ts';
import { type Body, encodeMade } from '../../codec/body.ts';
import { sameBody, sameValue } from '../../codec/same-value.ts';
import { CollectionError, TransactionError } from '../../errors/errors.ts';
import type { ListPart, SearchAsk } from '../../protocol/live-protocol.ts';
import type { Postings } from '../../query/text/postings.ts';
import { type TextAt, textsAt } from '../../query/text/text-key.ts';
import {
  BestFirst,
  matchTexts,
  type Scored,
  type ScoredEnd,
  type TextMatches,
} from '../../query/text/text-matches.ts';
import { parseSearch, type SearchTerm } from '../../query/text/text-words.ts';
import type { StoredRecord } from '../../storage/segments/stored-record.ts';
import type { CollectionContext, OperationContext } from '../collection-context.ts';
import { indexKinds } from '../documents/document-index.ts';
import { compileSelection, documentReaders } from '../find/compiled-selection.ts';
import { provideReads } from '../find/late-reads.ts';
import { madeRead } from '../find/made-reads.ts';
import { DocumentQuery } from '../find/query.ts';
import { lateStored } from '../first-reads/stored-records.ts';
import { ListUpdates, type Match } from '../live/list-result.ts';
import { lateResults } from '../live/live-queries.ts';
import type { MaintainedResult } from '../live/live-result.ts';
import { findStored, readStored } from './stored-texts.ts';
import { TextIndex } from './text-index.ts';

/** Documents that are looked at together. */
const BATCH = 64;

/** Fewer candidates are tested one by one, whatever index there is for the criteria. */
const FEW = 256;

/** A hit, before its document is made. */
interface FoundRecord {
  readonly record: StoredRecord;
  readonly score: number;
  readonly body: Body;
}

interface MadeHit {
  readonly record: StoredRecord;
  readonly hit: SearchHit<object>;
}

class TextSearch {
  readonly ask: SearchAsk;
  readonly index: TextIndex;
  readonly terms: readonly SearchTerm[];
  /** Once {@link run}. */
  matches!: TextMatches<StoredRecord>;
  examined = 0;
  candidates = 0;
  criteria: Pick<SearchExplanation, 'criteria' | 'index'> = { criteria: 'none' };
  readonly #context: OperationContext;
  readonly #pace: Pace;

  /** @throws {TransactionError} `transaction_misused`; {CollectionError} `index_missing` */
  constructor(context: OperationContext, ask: SearchAsk, pace: Pace) {
    if (context.reads) throw inTransaction(context.settings.name);
    this.ask = ask;
    this.#context = context;
    this.#pace = pace;
    const { all } = (context as CollectionContext).indexes;
    const index = all.find(({ phase, keyName }) => phase === 'ready' && keyName === ask.index);
    if (!(index instanceof TextIndex)) throw notIndexed(context.settings.name);
    this.index = index;
    const isPrefix = ask.prefix || ask.wanted === 'words';
    this.terms = parseSearch(ask.text, index.words, isPrefix);
  }

  /** Must come first: what is loaded is built when it is needed. */
  *prepare(): Coroutine<void> {
    const { index } = this;
    if (index.runs.isLoaded) {
      const { storage, settings } = this.#context as CollectionContext;
      const found = yield* wait(readStored(storage, settings.name, index.column));
      if (found) yield* this.#inSlices(index.adopt(...found));
    }
    yield* this.#inSlices(index.runs.building());
  }

  *#inSlices<T>(work: Generator<void, T>): Coroutine<T> {
    let step = work.next();
    for (; !step.done; step = work.next()) if (this.#pace.late) yield* this.#pace.pause();
    return step.value;
  }

  /** The hits, best first. */
  *hits(): Coroutine<FoundRecord[]> {
    yield* this.prepare();
    const release = this.#context.records.pin();
    try {
      return yield* this.#hits();
    } finally {
      release();
    }
  }

  *#hits(): Coroutine<FoundRecord[]> {
    const { ask } = this;
    const { records } = this.#context;
    this.matches = yield* this.#inSlices(matchTexts(this.index, this.terms, ask));
    const best = yield* this.#inSlices(BestFirst.of(this.matches.scores, this.#end()));
    this.candidates = best.length;
    const { criteria, archived } = ask;
    const { wanted, test } = compileSelection(this.#context, { criteria, archived });
    const narrowed = test && (yield* this.#narrowed(best.length));
    const phrases = this.terms.filter(({ words }) => words.length > 1);
    const looks = phrases.length > 0 || (test && !narrowed);
    if (test && !narrowed) this.criteria = { criteria: 'documents' };
    const found: FoundRecord[] = [];
    while (best.length > 0 && found.length < ask.limit) {
      const taken: Scored<StoredRecord>[] = [];
      const room = looks ? Math.max(BATCH, ask.limit) : ask.limit - found.length;
      for (let one = best.take(); one; one = taken.length < room ? best.take() : undefined)
        if (!narrowed || narrowed.has(one.run.ranks[one.row] as number)) taken.push(one);
      if (this.index.fetch) yield this.index.fetch(taken);
      const batch = taken
        .map(({ run, row, score }) => ({ record: run.recordAt(row), score }))
        .filter(({ record }) => wanted(record));
      const bodies = yield* this.index.recent(
        records.bodies,
        batch.map(({ record }) => record),
      );
      for (const [at, one] of batch.entries()) {
        const body = bodies[at] as Body;
        if (looks) this.examined++;
        if (test && !narrowed && !test(one.record, body)) continue;
        if (phrases.length > 0 && !this.#hasPhrases(one.record, body, phrases)) continue;
        found.push({ ...one, body });
        if (found.length === ask.limit) break;
      }
      if (this.#pace.late) yield* this.#pace.pause();
    }
    return found;
  }

  /** The ranks of the documents that an index finds for the criteria. */
  *#narrowed(candidates: number): Coroutine<ReadonlySet<number> | undefined> {
    const { criteria, archived } = this.ask;
    const query = new DocumentQuery(this.#context, { criteria, archived }, this.#pace);
    const { plan } = query;
    if (plan.kind === 'scan' || candidates <= FEW) return undefined;
    this.criteria = {
      criteria: 'index',
      index: plan.kind === 'index' ? plan.index : plan.kind,
    };
    const ranks = new Set<number>();
    for (const { rank } of yield* query.records()) ranks.add(rank);
    return ranks;
  }

  /**
   * Where the page before ends. All scores change with each change of a text, so that of its last
   * hit is looked up: of the version that the page had, whatever has become of it.
   */
  #end(): ScoredEnd | undefined {
    const { after } = this.ask;
    if (!after) return undefined;
    const { id } = after;
    const rank = this.#context.records.get(id)?.rank ?? Number.NEGATIVE_INFINITY;
    const ends: ScoredEnd[] = [];
    for (const { run, rows, gone, scores } of this.matches.scores) {
      const own = gone.filter((row) => run.ownAt(row)?.key === id);
      const row = run.rowOf(rank);
      if (row !== undefined && rows.includes(row)) own.push(row);
      for (const each of own)
        ends.push({ score: scores[each] as number, rank: run.ranks[each] as number });
    }
    const far = ({ score }: ScoredEnd) => Math.abs(score - after.score);
    return ends.sort((a, b) => far(a) - far(b))[0] ?? { score: after.score, rank };
  }

  #hasPhrases(record: StoredRecord, body: Body, phrases: readonly SearchTerm[]): boolean {
    const texts = this.textsOf(record, body).map(
      ([text]) => ` ${this.index.words.of(text).join(' ')} `,
    );
    return phrases.every(({ words, use }) => {
      const phrase = ` ${words.join(' ')} `;
      return texts.some((text) => text.includes(phrase)) === (use === 'phrase');
    });
  }

  /** The texts of a document that are in the index. */
  textsOf(record: StoredRecord, body: Body): TextAt[] {
    const { fieldsOf } = documentReaders(this.#context);
    const document = fieldsOf(record, body);
    return this.index.keys.flatMap((keys) => textsAt(document, keys));
  }

  /** Where the words of the search are, by path. */
  placesIn(record: StoredRecord, body: Body): Record<string, [number, number][]> {
    const wanted = new Set(
      this.matches.terms.flatMap(({ use, variants }) =>
        use === 'excluded' ? [] : variants.map(({ word }) => word),
      ),
    );
    const places: Record<string, [number, number][]> = {};
    for (const [text, path] of this.textsOf(record, body)) {
      const own: [number, number][] = [];
      for (const { word, from, to } of this.index.words.places(text))
        if (wanted.has(word) && own.at(-1)?.[0] !== from) own.push([from, to]);
      if (own.length > 0) places[path] = own;
    }
    return places;
  }

  *result(): Coroutine<readonly object[]> {
    switch (this.ask.wanted) {
      case 'words':
        return yield* this.suggestions();
      case 'explanation':
        return [yield* this.explanation()];
      case 'hits':
        return (yield* this.made()).map(({ hit }) => hit);
    }
  }

  /** The hits as the caller gets them. */
  *made(): Coroutine<MadeHit[]> {
    const found = yield* this.hits();
    const { wholeOf } = documentReaders(this.#context);
    const { select } = compileSelection(this.#context, { select: this.ask.select });
    const make = select ?? wholeOf;
    return found.map(({ record, body, score }) => ({
      record,
      hit: {
        document: make(record, body),
        score,
        ...(this.ask.highlight && { matches: this.placesIn(record, body) }),
        ...(this.matches.truncated && { truncated: true as const }),
      },
    }));
  }

  *explanation(): Coroutine<SearchExplanation> {
    const { clock } = this.#context;
    const began = clock.elapsed();
    const { length } = yield* this.hits();
    const { terms, truncated } = this.matches;
    return {
      words: terms.map(({ word, use, variants, entries }) => ({
        ...{ word, use, entries },
        variants: variants.length,
      })),
      ...this.criteria,
      candidates: this.candidates,
      documents_examined: this.examined,
      returned: length,
      truncated,
      postings: this.#postings(),
      engine_ms: clock.elapsed() - began,
    };
  }

  #postings(): SearchExplanation['postings'] {
    const all = this.index.runs.current().map(({ postings }) => postings);
    return {
      documents: all.reduce((sum, { alive }) => sum + alive, 0),
      words: new Set(all.flatMap(({ words }) => words)).size,
      bytes: all.reduce((sum, { byteLength }) => sum + byteLength, 0),
    };
  }

  /** Completes the last word. */
  *suggestions(): Coroutine<Suggestion[]> {
    yield* this.prepare();
    const last = this.terms.at(-1);
    if (!last?.isPrefix) return [];
    const before = this.terms.slice(0, -1).filter(({ use }) => use !== 'excluded');
    const rules = { mode: 'all', fuzzy: false } as const;
    const typed = before.flatMap(({ words }) => words);
    const matching = (terms: readonly SearchTerm[]) =>
      this.#inSlices(matchTexts(this.index, terms, rules));
    const among = typed.length > 0 ? yield* matching(before) : undefined;
    const { terms } = yield* matching([last]);
    const counts = new Map<string, number>();
    const { records } = this.#context;
    const { hides } = records;
    const hidden = new Set(hides && records.list().flatMap((one) => (hides(one) ? one.rank : [])));
    const runs =
      among?.scores ?? this.index.runs.current().map((run) => ({ run, rows: undefined }));
    const words = new Set([...typed]);
    for (const { run, rows } of runs) {
      const { postings } = run;
      const members = rows && new Set(rows);
      for (const { word } of terms[0]?.variants ?? []) {
        const at = postings.find(word);
        if (at < 0 || words.has(word)) continue;
        const isThere = (row: number) => members?.has(row) ?? !postings.dead[row];
        const isShown = (row: number) => isThere(row) && !hidden.has(run.ranks[row] as number);
        const count = countAmong(postings, at, isShown);
        if (count > 0) counts.set(word, (counts.get(word) ?? 0) + count);
      }
    }
    return [...counts]
      .sort(([a, count], [b, other]) => other - count || (a < b ? -1 : 1))
      .slice(0, this.ask.limit)
      .map(([word, documents]) => {
        // What the platform has cut off a word that is not finished is a part of it.
        const parts = last.begun?.typed.find((begun) => word.startsWith(begun)) ?? '';
        const from = typed.findIndex(
          (_, at) => typed.slice(at).concat(last.words).join('') === parts,
        );
        return {
          text: [...typed.slice(0, from < 0 ? undefined : from), word].join(' '),
          documents,
        };
      });
  }
}

/** How many documents have the word of a place. */
function countAmong(postings: Postings, at: number, isMember: (row: number) => boolean): number {
  const { rows, count } = postings.list(at);
  let found = 0;
  let last = -1;
  for (let entry = 0; entry < count; entry++) {
    const row = rows[entry] as number;
    if (row !== last && isMember(row)) found++;
    last = row;
  }
  return found;
}

function inTransaction(name: string): TransactionError {
  const message = `A transaction cannot search: the text index of "${name}" does not know its changes. Search before it, and read what was found with tx().`;
  return new TransactionError('transaction_misused', message);
}

function notIndexed(name: string): CollectionError {
  const message = `The text index of "${name}" is not there: it could not be built, which an event "error" has told, or the backup was made before it was declared.`;
  return new CollectionError('index_missing', message);
}

/** Milliseconds between two searches. */
const AGAIN_MS = 100;

interface ShownHit extends Match {
  /** What the reader sees of it, but for its score. */
  readonly seen: object;
}

/** A search that is repeated after changes. */
class LiveSearch implements MaintainedResult {
  readonly throttle = AGAIN_MS;
  readonly #context: CollectionContext;
  readonly #ask: SearchAsk;
  readonly #updates = new ListUpdates(({ delivered }) => delivered as Body);
  #shown: readonly ShownHit[] = [];
  #isCurrent = false;
  #isFirst = true;

  constructor(context: CollectionContext, ask: SearchAsk) {
    this.#context = context;
    this.#ask = ask;
  }

  update(): boolean {
    this.#isCurrent = false;
    return true;
  }

  reload(): void {
    this.#isCurrent = false;
  }

  *next(): Coroutine<ListPart | undefined> {
    if (!this.#updates.isDelivering) {
      if (this.#isCurrent) return undefined;
      this.#isCurrent = true;
      const { clock, aborts } = this.#context;
      const search = new TextSearch(this.#context, this.#ask, new Pace(clock, aborts));
      if (!this.#take(yield* search.made())) return undefined;
      if (!this.#updates.begin(this.#shown)) return undefined;
    }
    return yield* this.#updates.part();
  }

  /** @returns whether documents or their order differ: other scores alone are none. */
  #take(hits: readonly MadeHit[]): boolean {
    const shown = this.#shown;
    const isSame =
      hits.length === shown.length &&
      hits.every(({ record, hit }, at) => {
        const before = shown[at] as ShownHit;
        return isOf(before, record) && sameValue(before.seen, seenOf(hit));
      });
    if (isSame && !this.#isFirst) return false;
    this.#isFirst = false;
    const known = new Map(shown.map((match, at) => [match.record.key, { match, at }]));
    let last = -1;
    this.#shown = hits.map(({ record, hit }) => {
      const delivered = encodeMade(hit);
      const before = known.get(record.key);
      const stays = before && before.at > last && sameBody(before.match.delivered, delivered);
      if (!stays) return { record, sort: undefined, delivered, seen: seenOf(hit) };
      last = before.at;
      return before.match;
    });
    return true;
  }
}

function isOf(shown: ShownHit, { key }: StoredRecord): boolean {
  return shown.record.key === key;
}

function seenOf({ score, ...seen }: MadeHit['hit']): object {
  return seen;
}

indexKinds.search = TextIndex;
lateStored.find = findStored;
provideReads({
  search: madeRead((context, { pipeline }, pace) =>
    new TextSearch(context, pipeline as SearchAsk, pace).result(),
  ),
});
lateResults.search = (context, { spec }) =>
  new LiveSearch(context, (spec as { readonly pipeline: object }).pipeline as SearchAsk);
