import type { DocumentCollectionOptions } from '../../src/api/options/collection-options.ts';
import type { DocumentCollection } from '../../src/page/collections/document-collection.ts';
import {
  REPLICATION,
  type ReplicationAccess,
} from '../../src/page/collections/replication-access.ts';
import type { Environment } from '../../src/replication/loop/platform-environment.ts';
import type { Remote, ReplicationScope } from '../../src/replication/protocol/remote.ts';
import { Replication } from '../../src/replication/replication.ts';
import {
  parseOptions,
  type ReplicationOptions,
} from '../../src/replication/replication-options.ts';
import type { Browser } from './browser.ts';
import type { MadeFiles } from './replication-files.ts';
import { GroupViews } from './replication-groups.ts';
import { type Change, type Parts, type ReplicationLog, shown } from './replication-log.ts';
import type { ReplicationNetwork } from './replication-network.ts';
import { countToken, stepOf, tokenOf, tokensIn } from './replication-tokens.ts';
import type { SimKeys } from './sealed-documents.ts';
import { Tab } from './tab.ts';

export interface Order {
  x?: string;
  y?: string;
  /** What was added to it, in order. */
  l?: string[];
  /** A counter. */
  c?: bigint;
  /** The number of its group. */
  g?: number;
  /** A file. */
  f?: unknown;
}

/** A browser with its network. */
export interface Site {
  readonly number: number;
  readonly browser: Browser;
  readonly network: ReplicationNetwork;
  /** The scopes that it always has; left out: the whole collection. */
  readonly scopes?: readonly ReplicationScope[] | undefined;
}

/** What the tabs of a run have in common. */
export interface ClientContext {
  readonly log: ReplicationLog;
  readonly collection: Partial<DocumentCollectionOptions>;
  readonly options: Partial<ReplicationOptions>;
  readonly poison: number;
  readonly trace: (line: string) => void;
  readonly wrong: (problem: string) => void;
  readonly files?: MadeFiles | undefined;
  /** Whether tabs look into groups of orders. */
  readonly relates?: boolean;
  readonly keys?: SimKeys | undefined;
  /** The server, as a tab reaches it, where that is not by calls alone. */
  readonly remoteOf?: (network: ReplicationNetwork, tab: Tab) => Remote<any>;
}

/** Codes with which a call may reject while tabs end. */
const ALLOWED = [
  'answer_lost',
  'closed',
  'transaction_conflict',
  'id_taken',
  'backup_unknown',
  'load_failed',
  'storage_full',
];
/** Codes with which settled() may reject. */
const UNSETTLED = [
  ...['replication_stopped', 'remote_unauthorized', 'closed', 'load_failed'],
  ...['key_unknown', 'seal_replayed', 'storage_full'],
];

/** The longest that a file takes, in milliseconds. */
const READING_MS = 300_000;

/** Groups of documents. */
export const GROUPS = 3;

/** A tab that replicates its orders. */
export class ReplicationClient {
  readonly tab: Tab;
  readonly site: Site;
  readonly orders: DocumentCollection<Order>;
  readonly sync: Replication<Order>;
  readonly views: GroupViews | undefined;
  /** Whether it lacks a key that documents are sealed with later. */
  readonly isEarly: boolean;
  /** Calls that wait. */
  open = 0;
  readonly #context: ClientContext;
  readonly #returns = new Set<() => void>();
  readonly #name: string;
  #tokens = 0;
  #backup: string | undefined;

  constructor(id: number, site: Site, context: ClientContext) {
    this.site = site;
    this.#context = context;
    this.#name = `${site.number}/${id}`;
    this.tab = new Tab(id, site.browser);
    this.orders = this.openOrders();
    if (context.relates) this.views = new GroupViews(this.tab, context.collection);
    const { log, trace, options, keys } = context;
    this.isEarly = keys?.isEarly() ?? false;
    const remote = context.remoteOf?.(site.network, this.tab) ?? site.network.remoteOf(this.tab);
    const settings = parseOptions({
      ...{ remote: keys?.remote(remote, this.isEarly) ?? remote, scopes: site.scopes },
      ...options,
    });
    this.sync = new Replication<Order>(
      this.orders[REPLICATION] as ReplicationAccess,
      { ...settings, collection: this.orders },
      this.#environment(),
    );
    this.sync.on('conflict', (conflict) => {
      trace(`  ${this.#name} conflict ${shown(conflict)}`);
      log.decided(site.number, conflict);
    });
    this.sync.on('status', ({ state, pending, rejected, error }) =>
      trace(`  ${this.#name} ${state} ${pending} ${rejected} ${error ?? ''}`),
    );
    this.tab.db.on('error', ({ error }) => {
      trace(`  ${this.#name} ${error}`);
      log.failed(this.tab, error);
    });
  }

  openOrders(): DocumentCollection<Order> {
    const { Collection } = this.tab.db;
    return new Collection<Order>({
      ...{ name: 'orders', type: 'DOCUMENT_BASED' },
      ...this.#context.collection,
    });
  }

  /** The network may be back, or the page is shown. */
  wake(): void {
    for (const call of [...this.#returns]) call();
  }

  /** Changes orders as the random numbers have it. */
  change(ids: readonly string[]): Promise<void> {
    const { random } = this.site.browser.world;
    const id = random.pick(ids);
    const kind = random.below(17);
    if (kind === 0) return this.insert([id]);
    if (kind === 1) return this.insert([1, 2, 3].map(() => this.#token().replace(/^t:|!$/g, 'm')));
    if (kind < 5) return this.#set(id, random.chance(0.5) ? 'x' : 'y');
    if (kind < 8) return this.#push(id);
    if (kind === 8) return this.#replace(id);
    if (kind === 9) return this.#delete(id);
    if (kind === 10) return this.#archive(id, random.chance(0.7));
    if (kind === 11) return this.#upsert(id);
    if (kind === 12) return this.#makeAnew(id);
    if (kind > 13) return this.#count(id);
    return this.#together(id, random.pick(ids));
  }

  /** Changes documents at once: in part, or as a whole, without reading them. */
  async changeAll(ids: readonly string[]): Promise<void> {
    const isWhole = this.site.browser.world.random.chance(0.5);
    await Promise.all(ids.map((id) => (isWhole ? this.#replace(id) : this.#set(id, 'x'))));
  }

  /** Gives a document a file, new or of another document, or reads it. */
  async attach(id: string, from: string): Promise<void> {
    const { random } = this.site.browser.world;
    const kind = random.below(5);
    this.#context.trace(`${this.#name} attach ${id} ${kind}`);
    if (kind === 0) return this.readFile(id);
    const f =
      kind === 1
        ? (await this.orders.get(from))?.f
        : this.#context.files?.content(this.site.number);
    if (f !== undefined) await this.orders.patch(id, { f });
  }

  /** Reads the files that must be here at rest, as nothing fails. */
  async readFiles(): Promise<void> {
    const { files, wrong } = this.#context;
    const { number, browser } = this.site;
    const refused = await browser.world.hear(this.sync.rejected());
    for (const { id, reason, document } of refused)
      if (!reason.includes('poison') && files?.isKept(number, document))
        wrong(`${id} is refused: ${reason}`);
    const known = new Set(refused.map(({ id }) => id));
    const found = await browser.world.hear(this.orders.filter({ f: { $exists: true } }));
    for (const one of found) {
      if (!files?.isDue(number, one, known.has(one._id))) continue;
      let isRead = false;
      this.readFile(one._id, true).finally(() => {
        isRead = true;
      });
      await browser.world.runUntil(browser.world.now + READING_MS, () => isRead);
      if (!isRead) wrong(`${this.#name} does not read the file of ${one._id}`);
    }
  }

  /** @param isCalm Whether nothing fails: then the content is there. */
  async readFile(id: string, isCalm = false): Promise<void> {
    const { files, wrong } = this.#context;
    const before = (await this.orders.get(id))?.f as StoredFile;
    const content = await this.sync.file(id, 'f').catch((error) => {
      if (isCalm) wrong(`${this.#name} cannot read the file of ${id}: ${error}`);
      return undefined;
    });
    const sha256 = before && '$file' in before ? before.$file.sha256 : undefined;
    const isSame = sha256 === ((await this.orders.get(id))?.f as { $file: Ref })?.$file?.sha256;
    const expected = sha256 && files?.contents.get(sha256);
    if (isCalm && sha256 && !expected) wrong(`${this.#name} has a file of ${id} that nobody made`);
    if (!content || !expected || !isSame) return;
    const bytes = new Uint8Array(await content.arrayBuffer());
    if (!Buffer.from(bytes).equals(expected)) wrong(`${this.#name} has another file of ${id}`);
  }

  /** Moves a document to another group. */
  async regroup(id: string): Promise<void> {
    const g = this.site.browser.world.random.below(GROUPS);
    this.#context.trace(`${this.#name} regroup ${id} ${g}`);
    await this.orders.patch(id, { g });
  }

  /** Adds a scope, or removes it, as far as the tab lives. */
  async changeScope(): Promise<void> {
    const { random } = this.site.browser.world;
    const scope = { g: random.below(GROUPS) };
    this.#context.trace(`${this.#name} scope ${scope.g}`);
    const { scopes } = this.sync;
    await (random.chance(0.5) ? scopes.add(scope) : scopes.remove(scope)).catch(() => undefined);
  }

  /** Has no other scopes than it was given. */
  async removeScopes(): Promise<void> {
    const { scopes } = this.sync;
    for (let g = 0; g < GROUPS; g++)
      if (!this.site.scopes?.some((one) => one.g === g)) await scopes.remove({ g });
  }

  insert(ids: readonly string[]): Promise<void> {
    const documents = ids.map((_id) => this.#whole(_id));
    const writes = documents.flatMap((one) => writesOf(one));
    const run = async () => {
      if (documents.length > 1) await this.orders.insertMany(documents);
      else await this.orders.insert(documents[0] as Order);
      return true;
    };
    return this.#change(`insert ${ids}`, { writes, creates: ids }, run);
  }

  #set(id: string, field: 'x' | 'y'): Promise<void> {
    const token = this.#token();
    const parts = { writes: [{ id, field, token }], overwrites: [{ id, field }] };
    const run = async () => (await this.orders.patch(id, { [field]: token })) !== undefined;
    return this.#change(`set ${id}.${field} ${token}`, parts, run);
  }

  #push(id: string): Promise<void> {
    const token = this.#token();
    const run = async () => (await this.orders.patch(id, { $push: { l: token } })) !== undefined;
    return this.#change(`push ${id} ${token}`, { writes: [{ id, field: 'l', token }] }, run);
  }

  #count(id: string): Promise<void> {
    const nth = this.#context.log.takeCount();
    const token = countToken(nth);
    const run = async () =>
      (await this.orders.patch(id, { $inc: { c: stepOf(nth) } })) !== undefined;
    return this.#change(`count ${id} ${nth}`, { writes: [{ id, field: 'c', token }] }, run);
  }

  #replace(id: string): Promise<void> {
    const document = this.#whole(id);
    const parts = { writes: writesOf(document), overwrites: [{ id, field: undefined }] };
    const run = async () => (await this.orders.update(id, document)) !== undefined;
    return this.#change(`update ${id} ${document.x}`, parts, run);
  }

  #upsert(id: string): Promise<void> {
    const document = this.#whole(id);
    const parts = {
      writes: writesOf(document),
      overwrites: [{ id, field: undefined }],
      creates: [id],
    };
    const run = async () => (await this.orders.upsert(document)) !== undefined;
    return this.#change(`upsert ${id} ${document.x}`, parts, run);
  }

  /** Deletes a document and inserts another in its place. */
  async #makeAnew(id: string): Promise<void> {
    const deleted = this.#delete(id);
    await Promise.all([deleted, this.insert([id])]);
  }

  #delete(id: string): Promise<void> {
    const parts = { overwrites: [{ id, field: undefined }], deletes: id };
    return this.#change(`delete ${id}`, parts, async (change) => {
      const found = this.orders.get(id).then(tokensIn, () => undefined);
      const isDeleted = await this.orders.delete(id);
      change.deleted = await found;
      return isDeleted;
    });
  }

  #archive(id: string, isArchived: boolean): Promise<void> {
    return this.#change(`archive ${id}`, {}, () =>
      isArchived ? this.orders.archive(id) : this.orders.unarchive(id),
    );
  }

  /** Changes two orders, or none. */
  #together(one: string, other: string): Promise<void> {
    const [x, l] = [this.#token(), this.#token()];
    const writes = [
      { id: one, field: 'x', token: x },
      { id: other, field: 'l', token: l },
    ];
    const run = () =>
      this.tab.db.transaction(async (tx) => {
        const orders = tx(this.orders);
        if (!(await orders.get(one)) || !(await orders.get(other))) return false;
        await orders.patch(one, { x });
        await orders.patch(other, { $push: { l } });
        return true;
      });
    const parts = { writes, overwrites: [{ id: one, field: 'x' }], isWhole: true };
    return this.#change(`together ${one} ${other} ${x} ${l}`, parts, run);
  }

  /** Makes a backup, or loads the one that it has made. */
  async backUp(): Promise<void> {
    const name = this.#backup;
    if (!name) {
      this.#backup = await this.orders.createBackup();
      return;
    }
    this.#context.log.hasLoaded = true;
    const parts: Parts = { overwrites: [{ id: undefined, field: undefined }], creates: 'all' };
    await this.#change('load', parts, () => this.orders.loadBackup(name));
  }

  /** Saves all that was acknowledged so far. */
  async save(): Promise<void> {
    const { log } = this.#context;
    const before = log.changes.filter(
      ({ tab, status }) => tab === this.tab && status === 'acknowledged',
    );
    await this.tab.db.save();
    for (const change of before) {
      change.isSaved = true;
      change.savedAt = Math.min(change.savedAt, log.mark());
    }
  }

  async settle(timeout?: number): Promise<void> {
    try {
      await this.sync.settled({ timeout });
      this.#context.trace(`${this.#name} is settled`);
    } catch (error) {
      const { code = '' } = error as { code?: string };
      this.#context.trace(`${this.#name} is not settled: ${error}`);
      if (timeout !== undefined || !UNSETTLED.includes(code)) throw error;
    }
  }

  /** An error that a call may not reject with is a problem. */
  note(error: unknown): void {
    const { code = '' } = error as { code?: string };
    if (!ALLOWED.includes(code))
      this.#context.wrong(`tab ${this.#name}: ${(error as Error)?.stack ?? error}`);
  }

  async #change(
    what: string,
    parts: Parts,
    run: (change: Change) => Promise<boolean>,
  ): Promise<void> {
    const { log, trace } = this.#context;
    trace(`${this.#name} ${what}`);
    const change: Change = log.begin(this.site.number, this.tab, parts);
    try {
      // It is reapplied where its document may be gone.
      change.isStale = this.tab.frozenUntil === this.site.browser.world.now;
      log.end(change, (await run(change)) ? 'acknowledged' : 'refused');
    } catch (error) {
      const { code = '' } = error as { code?: string };
      log.end(change, code === 'answer_lost' ? 'unknown' : 'refused');
      this.note(error);
    }
    trace(`${this.#name} ${what}: ${change.status}`);
  }

  #token(): string {
    const { random } = this.site.browser.world;
    return tokenOf(this.#name, ++this.#tokens, random.chance(this.#context.poison));
  }

  #whole(_id: string): Order & { readonly _id: string } {
    // What was there before must not come back.
    const isShort = this.site.browser.world.random.chance(0.3);
    return { _id, x: this.#token(), ...(!isShort && { y: this.#token(), l: [this.#token()] }) };
  }

  #environment(): Environment {
    const { tab } = this;
    const { world } = this.site.browser;
    return {
      clock: {
        now: () => 1_700_000_000_000 + world.now + this.site.browser.ahead,
        elapsed: () => world.now,
        after: (ms, call) => world.after(ms, tab, call),
      },
      random: () => world.random.next(),
      isVisible: () => !tab.isHidden,
      onReturn: (call) => {
        this.#returns.add(call);
        return () => void this.#returns.delete(call);
      },
    };
  }
}

interface Ref {
  readonly sha256: string;
}

type StoredFile = { readonly $file: Ref } | Uint8Array | Blob | undefined;

function writesOf({ _id: id, x, y, l = [] }: Order & { readonly _id: string }) {
  return [
    ...(x ? [{ id, field: 'x', token: x }] : []),
    ...(y ? [{ id, field: 'y', token: y }] : []),
    ...l.map((token) => ({ id, field: 'l', token })),
  ];
}
