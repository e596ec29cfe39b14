import { isDeepStrictEqual } from 'node:util';
import { expect } from 'vitest';
import type { BackupInfo, DatabaseClient, LiveQuery, Verification } from '../../src/index.ts';
import { openClient } from '../engine/engine-client.ts';
import { FakeClock, settled } from '../engine/fake-clock.ts';
import { expectSame, isSame, outcome, type Subject } from '../model/world.ts';
import { faultyDriver, outage } from '../storage/faulty-driver.ts';
import type { BackupStep, Reopening } from './backup-steps.ts';
import { atRest } from './cut-world.ts';

/** The interface common to both kinds of collection. */
interface BackedUp {
  readonly ready: Promise<void>;
  save(): Promise<void>;
  createBackup(): Promise<string>;
  listBackups(): Promise<BackupInfo[]>;
  loadBackup(name: string): Promise<true>;
  deleteBackup(name: string): Promise<true>;
  verify(): Promise<Verification>;
}

/** The parts that depend on the kind of collection. */
export interface Kind<Collection extends BackedUp, Command, State> {
  readonly subject: Subject<Collection, Command, State>;
  open(client: DatabaseClient, reopening: Reopening, options: object): Collection;
  /** A live query; `shown` is its expected data for the contents. */
  watch(collection: Collection): LiveQuery<unknown>;
  shown(contents: unknown): unknown;
}

/** A backup in the model. */
interface Remembered<State> {
  /** Its possible contents. */
  readonly states: readonly State[];
  /**
   * Whether it may be removed automatically: its creation or removal failed, or a later one of its
   * day follows.
   */
  readonly passing: boolean;
}

const BEFORE_LOAD = 'before loadBackup()';

/** A collection with its backups, and a model of both. */
export class BackupWorld<Collection extends BackedUp, Command, State> {
  readonly #kind: Kind<Collection, Command, State>;
  readonly #retention: number;
  readonly #driver = faultyDriver();
  #clock = new FakeClock();
  #client: DatabaseClient;
  #collection: Collection;
  #live: { readonly query: LiveQuery<unknown>; readonly stop: () => void };
  #backups = new Map<string, Remembered<State>>();
  /** Possible states after a crash. */
  #possible: State[];
  /** Whether the stored state is known only as one of `#possible`. */
  #inDoubt = false;
  /** States between concurrent commands: an automatic backup may contain any of them. */
  #passed: State[] = [];
  /** States before failed restores. Their automatic backups may show after a reload. */
  readonly #beforeFailed: State[] = [];

  constructor(kind: Kind<Collection, Command, State>, retention: number, reopening: Reopening) {
    this.#kind = kind;
    this.#retention = retention;
    this.#possible = [kind.subject.state];
    this.#client = openClient(this.#driver, this.#clock).client;
    this.#collection = this.#open(reopening);
    this.#live = this.#watch();
  }

  async run(script: readonly BackupStep<Command>[]): Promise<void> {
    for (const step of script) {
      this.#passed = [];
      await this.#perform(step);
      await this.#takeIn();
      await this.#compareLive();
    }
    this.#driver.heal();
    await this.#end();
  }

  async #perform(step: BackupStep<Command>): Promise<void> {
    switch (step.step) {
      case 'command':
        await this.#issue([step.command]);
        break;
      case 'together':
        await this.#issue(step.commands);
        break;
      case 'save':
        if (await this.#succeeds(this.#collection.save().then(() => true))) this.#isStored();
        break;
      case 'backup':
        await this.#backUp();
        break;
      case 'verify':
        await this.#verify();
        break;
      case 'load':
        await this.#load(step.pick);
        break;
      case 'delete':
        await this.#delete(step.pick);
        break;
      case 'advance':
        await this.#clock.advance(step.ms);
        break;
      case 'jump':
        this.#clock.jump(step.ms);
        break;
      case 'fault':
        this.#driver.inject({ call: 'write', ...step });
        break;
      case 'reload':
        await this.#close();
        await this.#reopen(step);
        break;
      case 'crash':
        this.#live.stop();
        this.#driver.crash();
        this.#clock.stop();
        await this.#reopen(step);
        break;
    }
  }

  async #issue(bare: readonly Command[]): Promise<void> {
    const { subject } = this.#kind;
    const commands = bare.map((command) => subject.bind(command));
    const answers = commands.map((command) =>
      outcome(() => subject.real(this.#collection, command)),
    );
    for (const [at, command] of commands.entries()) {
      const answer = await answers[at];
      expectSame(answer, subject.model(command, this.#clock.now(), answer));
      this.#possible.push(subject.state);
      this.#passed.push(subject.state);
    }
  }

  async #backUp(): Promise<void> {
    const { state } = this.#kind.subject;
    const name = await this.#succeeds(this.#collection.createBackup());
    if (!name) return;
    this.#backups.set(name, { states: [state], passing: false });
    this.#isStored();
  }

  async #load(pick: number): Promise<void> {
    const { subject } = this.#kind;
    const name = await this.#nameAt(pick);
    if (name === undefined) return;
    const before = subject.state;
    const { states } = this.#backups.get(name) as Remembered<State>;
    const loaded = await this.#succeeds(this.#collection.loadBackup(name));
    await this.#takeIn([before], BEFORE_LOAD);
    if (loaded) {
      await this.#findAmong(states);
      this.#isStored();
      await this.#takeIn();
    } else {
      this.#beforeFailed.push(before);
      this.#possible.push(...states);
      this.#inDoubt = true;
    }
    await this.#expectContents();
  }

  async #delete(pick: number): Promise<void> {
    const name = await this.#nameAt(pick);
    if (name === undefined) return;
    if (await this.#succeeds(this.#collection.deleteBackup(name))) this.#backups.delete(name);
    else this.#doubt(name);
  }

  async #verify(): Promise<void> {
    const verification = await this.#succeeds(this.#collection.verify());
    if (!verification) return;
    expect(verification).toMatchObject({ whole: true, problems: [] });
    expect(verification.backups.filter(({ whole }) => !whole)).toEqual([]);
  }

  async #nameAt(pick: number): Promise<string | undefined> {
    const names = (await this.#collection.listBackups()).map(({ name }) => name);
    return names[pick % Math.max(names.length, 1)];
  }

  #doubt(name: string): void {
    const remembered = this.#backups.get(name);
    if (remembered) this.#backups.set(name, { ...remembered, passing: true });
  }

  /** The value of a promise, or `undefined` if storage failed. */
  async #succeeds<T>(promise: Promise<T>): Promise<T | undefined> {
    try {
      return await promise;
    } catch (error) {
      expect(error).toBe(outage);
      return undefined;
    }
  }

  /** Notes that the state of the model is durable. */
  #isStored(): void {
    this.#possible = [this.#kind.subject.state];
    this.#inDoubt = false;
  }

  /**
   * Adds automatically made backups to the model, and drops automatically removed ones.
   * @param states The possible contents of new backups.
   * @param label Restricts it to backups with this label.
   */
  async #takeIn(
    states = [...this.#passed, this.#kind.subject.state],
    label?: string,
  ): Promise<void> {
    await atRest(this.#driver);
    if (this.#client.status.unsaved === 0 && !this.#inDoubt)
      this.#possible = this.#possible.slice(-1);
    const list = await this.#collection.listBackups();
    for (const backup of list) {
      if (this.#backups.has(backup.name) || (label && backup.label !== label)) continue;
      // A backup whose creation failed may exist for a while, and may be removed again.
      this.#backups.set(backup.name, {
        states: backup.label === BEFORE_LOAD ? [...states, ...this.#beforeFailed] : states,
        passing: !backup.automatic || backup.label === 'daily',
      });
    }
    const names = new Set(list.map(({ name }) => name));
    for (const [name, { passing }] of this.#backups) {
      if (names.has(name)) continue;
      if (!passing) expect([name, this.#retention > 0]).toEqual([name, true]);
      this.#backups.delete(name);
    }
  }

  async #compareLive(): Promise<void> {
    const { subject, shown } = this.#kind;
    const expected = shown(subject.expected(subject.state));
    const { query } = this.#live;
    await query.ready;
    for (let turns = 0; turns < 200; turns++) {
      if (isDeepStrictEqual(query.getSnapshot().data, expected)) return;
      await settled();
    }
    expect(query.getSnapshot()).toEqual({ status: 'ready', data: expected, error: undefined });
  }

  async #expectContents(): Promise<void> {
    const { subject } = this.#kind;
    expectSame(await subject.contents(this.#collection), subject.expected(subject.state));
  }

  /** Sets the model to the last of these states that equals the collection. */
  async #findAmong(states: readonly State[]): Promise<void> {
    const { subject } = this.#kind;
    const found = await subject.contents(this.#collection);
    const state = states.findLast((state) => isSame(found, subject.expected(state)));
    if (!state) expectSame(found, subject.expected(states.at(-1) as State));
    subject.state = state as State;
  }

  #open(reopening: Reopening): Collection {
    return this.#kind.open(this.#client, reopening, {
      backup_retention_time: this.#retention,
      auto_create_backup: true,
    });
  }

  #watch() {
    const query = this.#kind.watch(this.#collection);
    return { query, stop: query.subscribe(() => undefined) };
  }

  async #close(): Promise<void> {
    this.#live.stop();
    if (!(await this.#succeeds(this.#client.close().then(() => true)))) {
      this.#driver.heal();
      await this.#client.close();
    }
    this.#driver.heal();
    expect(this.#clock.waiting).toBe(0);
    if (!this.#inDoubt) this.#isStored();
  }

  async #reopen(reopening: Reopening): Promise<void> {
    const next = new FakeClock(this.#clock.now());
    this.#clock = next;
    this.#client = openClient(this.#driver, next).client;
    this.#collection = this.#open(reopening);
    await this.#findAmong(this.#possible);
    this.#isStored();
    this.#live = this.#watch();
    await this.#takeIn();
    await this.#verify();
  }

  /** Restores every backup, oldest first. */
  async #end(): Promise<void> {
    await this.#expectContents();
    for (const { name } of (await this.#collection.listBackups()).reverse()) {
      // Later writes remove failed ones, and a restore triggers an expiry that it does not wait
      // for.
      await atRest(this.#driver);
      const names = (await this.#collection.listBackups()).map((backup) => backup.name);
      if (!names.includes(name)) continue;
      const remembered = this.#backups.get(name) as Remembered<State>;
      await this.#collection.loadBackup(name);
      await this.#findAmong(remembered.states);
    }
    this.#isStored();
    await this.#compareLive();
    await this.#close();
    await this.#reopen({ caching: true, indexed: false });
    await this.#close();
  }
}
