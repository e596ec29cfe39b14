import { type Browser, simulateBrowser } from './browser.ts';
import { Tab } from './tab.ts';
import { World } from './world.ts';

/** A tab of a story. */
export interface TabClient {
  readonly tab: Tab;
  /** Calls that have not ended. */
  open: number;
}

interface Pace {
  readonly steps: number;
  /** The longest time between two of them, in milliseconds. */
  readonly pauseMs: number;
  readonly restMs: number;
  /** What a step may be: seven enter, end, freeze or disturb, the others write. */
  readonly kinds: number;
  /** Codes of errors of calls that have changed nothing, or may have: nobody counts on them. */
  readonly refused: readonly string[];
}

/** Tabs that come, write, disturb each other, freeze and end, as a seed has it. */
export abstract class TabStory<Client extends TabClient> {
  protected readonly world: World;
  protected readonly violations: string[] = [];
  readonly #browser: Browser;
  readonly #pace: Pace;
  readonly #clients: Client[] = [];

  constructor(seed: number, pace: Pace) {
    this.world = new World(seed);
    this.#browser = simulateBrowser(this.world);
    this.#pace = pace;
  }

  protected abstract enter(tab: Tab): Client;
  /** Drops what others use, or renames it. */
  protected abstract disturb(client: Client): void;
  protected abstract write(client: Client): void;
  /** Compares what is there at rest with what was written. */
  protected abstract check(): Promise<void>;

  /** @returns what went wrong. */
  async run(): Promise<string[]> {
    const { world, violations } = this;
    const { storage } = this.#browser;
    if (world.random.chance(0.3)) storage.weather.slowness = world.random.between(3, 200);
    this.#enter();
    await world.runUntil(1000);
    for (let step = 0; step < this.#pace.steps; step++) {
      this.#step();
      await world.runUntil(world.now + world.random.between(0, this.#pace.pauseMs));
    }
    storage.weather.slowness = 3;
    if (this.living.length === 0) this.#enter();
    await world.runUntil(world.now + 60_000);
    for (const { tab, open } of this.living)
      if (open > 0) violations.push(`tab ${tab.id} waits for ${open} answers`);
    await this.check();
    return [...violations, ...storage.violations];
  }

  protected get living(): Client[] {
    return this.#clients.filter(({ tab }) => !tab.dead);
  }

  #enter(): void {
    this.#clients.push(this.enter(new Tab(this.#clients.length, this.#browser)));
  }

  #step(): void {
    const { random } = this.world;
    const { kinds, restMs } = this.#pace;
    const client = this.living.length > 0 ? random.pick(this.living) : undefined;
    const kind = random.below(kinds);
    if (!client || (kind === 0 && this.living.length < 3)) this.#enter();
    else if (kind === 1) client.tab.kill();
    else if (client.tab.frozen) this.write(client);
    else if (kind === 2) client.tab.close();
    else if (kind === 3) client.tab.freeze(random.between(10, 9000));
    else if (kind === 4) client.tab.rest(random.between(100, restMs));
    else if (kind < 7) this.disturb(client);
    else this.write(client);
  }

  /** Lets a tab do something. An error that is not expected is a violation. */
  protected do(client: Client, act: () => Promise<unknown>): void {
    this.world.act(client, act, (error) => {
      const { code = '' } = error as { code?: string };
      if (!this.#pace.refused.includes(code))
        this.violations.push(`tab ${client.tab.id}: ${error}`);
    });
  }
}
