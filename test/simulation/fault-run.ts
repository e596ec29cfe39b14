import type { DocumentCollection } from '../../src/page/collections/document-collection.ts';
import type { KeyValueCollection } from '../../src/page/collections/key-value-collection.ts';
import { type Browser, simulateBrowser } from './browser.ts';
import { type Fault, FaultyStorage, type StorageCall } from './faulty-storage.ts';
import { HistoryChecker } from './history-checker.ts';
import { Tab } from './tab.ts';
import { World } from './world.ts';

/**
 * How a run ends: storage works again while its tabs live, or only after they are gone without a
 * word.
 */
export type Ending = 'heals' | 'crashes';

/** What came of a run. */
export interface Outcome {
  /** What is wrong; nothing, if all is well. */
  readonly problems: readonly string[];
  /** How often storage was called. */
  readonly calls: Readonly<Record<StorageCall, number>>;
  /** Whether the call that was to fail has been made. */
  readonly struck: boolean;
  /** Whether segments were merged. */
  readonly merged: boolean;
  readonly codes: ReadonlySet<string>;
}

/** A scenario: what its tabs do, one thing after the other. */
export type Scenario = (run: FaultRun) => Promise<void>;

/** Time after which everything is tried again that failed; what hangs takes a minute each time. */
const HEALING_MS = 240_000;

/** Characters of a note: a few notes fill a segment, one does not. */
const LARGE = 40_000;

interface Note {
  readonly n: number;
  readonly text?: string;
}

/** A database whose storage fails at one call, and the history of its calls. */
export class FaultRun {
  readonly checker: HistoryChecker;
  readonly #storage: FaultyStorage;
  readonly #world = new World(1);
  readonly #browser: Browser;
  readonly #users: User[] = [];
  #tabs = 0;
  /** What the notes hold by what was acknowledged, by id. */
  notes: Readonly<Record<string, number>> = {};
  /** What the log holds. */
  log: readonly string[] = [];
  /** What each backup of the notes holds that was acknowledged. */
  backups: Readonly<Record<string, Readonly<Record<string, number>>>> = {};

  constructor(fault?: Fault) {
    this.#storage = new FaultyStorage(this.#world, fault);
    this.checker = new HistoryChecker(this.#world, { notes: this.notes, log: this.log });
    this.#browser = simulateBrowser(this.#world, this.#storage);
  }

  async run(scenario: Scenario, ending: Ending): Promise<Outcome> {
    await scenario(this);
    const { calls, struck, merged } = this.#storage;
    const outcome = { calls: { ...calls }, struck, merged, codes: this.checker.codes };
    if (ending === 'heals') await this.#heal();
    for (const { tab } of this.#users) tab.kill();
    this.#storage.heal();
    await this.wait(1000);
    await this.#checkAnew(ending);
    return { ...outcome, problems: [...this.checker.problems, ...this.#storage.violations] };
  }

  /** Somebody opens a tab, and the collections in it. */
  open(): User {
    const user = new User(this);
    this.#users.push(user);
    return user;
  }

  newTab(): Tab {
    return new Tab(this.#tabs++, this.#browser);
  }

  wait(ms: number): Promise<void> {
    return this.#world.runUntil(this.#world.now + ms);
  }

  /** Once storage works again, acknowledged changes can be saved. */
  async #heal(): Promise<void> {
    this.#storage.heal();
    await this.wait(HEALING_MS);
    for (const user of this.#users) {
      if (user.tab.dead || user.tab.db.status.state !== 'open') continue;
      const codes = this.checker.codes.size;
      if (!(await user.save()) && this.checker.codes.size >= codes)
        this.checker.problems.push(`tab ${user.tab.id} cannot save though storage works again`);
      user.construct();
      await this.#checkContents(`in tab ${user.tab.id}`, user);
      await user.close();
    }
  }

  async #checkContents(when: string, user: User, ending: Ending = 'heals'): Promise<void> {
    const contents = await user.contents();
    for (const collection of ['notes', 'log'] as const) {
      const found = contents?.[collection];
      if (ending === 'heals') this.checker.check(when, collection, found);
      else this.checker.checkSaved(when, collection, found);
    }
  }

  /** What a tab finds that comes after all others. */
  async #checkAnew(ending: Ending): Promise<void> {
    const user = this.open();
    await this.#checkContents('in a new tab', user, ending);
    const listed = await this.checker.hear('listBackups', user.collection.listBackups());
    const names = listed?.value.map(({ name }) => name) ?? [];
    for (const [name, state] of Object.entries({ ...this.backups })) {
      if (!names.includes(name)) this.checker.problems.push(`backup ${name} is lost`);
      else if (await user.loadBackup(name)) {
        this.checker.acknowledge('notes', state);
        this.checker.check(`after backup ${name}`, 'notes', (await user.contents())?.notes);
      } else this.checker.problems.push(`backup ${name} cannot be restored`);
    }
  }
}

/** A tab, and somebody who uses it. */
export class User {
  tab!: Tab;
  collection!: DocumentCollection<Note>;
  #log!: KeyValueCollection;
  readonly #run: FaultRun;

  constructor(run: FaultRun) {
    this.#run = run;
    this.#openTab();
  }

  #openTab(): void {
    this.tab = this.#run.newTab();
    this.tab.db.on('error', ({ error }) => this.#run.checker.note('an event', error));
    this.construct();
  }

  /** Constructs the collections; again, where they could not be opened or were dropped. */
  construct(): void {
    const { Collection } = this.tab.db;
    const common = { save_timeout: 5, save_directly_after: 100 };
    this.collection = new Collection<Note>({
      ...{ name: 'notes', type: 'DOCUMENT_BASED', activate_drop_method: true, ...common },
    });
    this.#log = new Collection({ name: 'log', type: 'KEY_VALUE_BASED', ...common });
  }

  async insert(_id: string, text = ''): Promise<void> {
    if (await this.#hear(`insert ${_id}`, this.collection.insert({ _id, n: 0, text })))
      this.#noteNotes({ ...this.#run.notes, [_id]: 0 });
  }

  async update(id: string, n: number): Promise<void> {
    const answer = await this.#hear(`update ${id}`, this.collection.update(id, { n }));
    if (answer?.value) this.#noteNotes({ ...this.#run.notes, [id]: n });
  }

  async delete(id: string): Promise<void> {
    const answer = await this.#hear(`delete ${id}`, this.collection.delete(id));
    if (!answer?.value) return;
    const { [id]: _gone, ...left } = this.#run.notes;
    this.#noteNotes(left);
  }

  async push(token: string): Promise<void> {
    if (!(await this.#hear(`push ${token}`, this.#log.push('all', token)))) return;
    this.#run.log = [...this.#run.log, token];
    this.#run.checker.acknowledge('log', this.#run.log);
  }

  async saveNotes(): Promise<void> {
    if (await this.#hear('notes.save', this.collection.save())) this.#run.checker.save('notes');
  }

  async save(): Promise<boolean> {
    const saved = await this.#hear('save', this.tab.db.save());
    if (saved) this.#run.checker.save();
    return saved !== undefined;
  }

  async createBackup(): Promise<string | undefined> {
    const { notes } = this.#run;
    const answer = await this.#hear('createBackup', this.collection.createBackup());
    if (!answer) return undefined;
    this.#run.backups = { ...this.#run.backups, [answer.value]: notes };
    this.#run.checker.save('notes');
    return answer.value;
  }

  async loadBackup(name: string | undefined): Promise<boolean> {
    if (!name) return false;
    const answer = await this.#hear('loadBackup', this.collection.loadBackup(name));
    if (!answer) return false;
    this.#noteNotes(this.#run.backups[name] ?? {});
    this.#run.checker.save('notes');
    return true;
  }

  /** Saves small segments until together they fill one, and are merged. */
  async saveLarge(ids: readonly string[]): Promise<void> {
    for (const id of ids) {
      await this.insert(id, 'x'.repeat(LARGE));
      await this.saveNotes();
    }
    await this.#run.wait(100);
  }

  /** Drops the notes, and constructs them again. */
  async drop(): Promise<string | undefined> {
    const { notes } = this.#run;
    const answer = await this.#hear('Drop', this.collection.Drop({ backup: true }));
    this.construct();
    if (!answer) return undefined;
    this.#run.backups = {};
    this.#noteNotes({});
    this.#run.checker.save('notes');
    const listed = await this.#hear('listBackups', this.collection.listBackups());
    const name = listed?.value[0]?.name;
    // Of one that could not be opened what is stored is kept, and nothing may be.
    if (listed && !name && Object.keys(notes).length > 0)
      this.#run.checker.problems.push('the drop left no backup');
    if (name) this.#run.backups = { [name]: notes };
    return name;
  }

  /** Closes the client; a client that could not be saved stays open, and may be closed later. */
  async close(): Promise<void> {
    const closed = await this.#hear('close', this.tab.db.close());
    if (closed) this.#run.checker.save();
  }

  async contents(): Promise<{ notes: unknown; log: unknown } | undefined> {
    const notes = await this.#hear('filter', this.collection.filter({}));
    const log = await this.#hear('get', this.#log.get('all'));
    if (!notes || !log) return undefined;
    return {
      notes: Object.fromEntries(notes.value.map(({ _id, n }) => [_id, n])),
      log: log.value ?? [],
    };
  }

  #noteNotes(notes: Readonly<Record<string, number>>): void {
    this.#run.notes = notes;
    this.#run.checker.acknowledge('notes', notes);
  }

  /**
   * Waits for a call. Where it fails the collections are constructed again, as their opening may
   * have failed.
   */
  async #hear<T>(what: string, asked: Promise<T>): Promise<{ value: T } | undefined> {
    const { checker } = this.#run;
    const answer = await checker.hear(`tab ${this.tab.id}: ${what}`, asked);
    if (answer) return answer;
    if (this.tab.db.status.state === 'failed') {
      checker.failClient();
      this.#openTab();
    } else this.construct();
    return undefined;
  }
}
