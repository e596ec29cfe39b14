import { ReplicationError } from '../../src/errors/replication-error.ts';
import type { LocalChange, PushResult, Remote } from '../../src/replication/protocol/remote.ts';
import { RequestFailure } from '../../src/server/failures.ts';
import type { SimFiles } from './replication-files.ts';
import type { ReplicationServer } from './replication-server.ts';
import { tokensIn } from './replication-tokens.ts';
import { plainId } from './sealed-documents.ts';
import type { Tab } from './tab.ts';
import type { World } from './world.ts';

/** How often the network and the server fail. */
export interface NetworkWeather {
  /** Of requests that never arrive. */
  lost: number;
  /** Of answers that never arrive. */
  unanswered: number;
  /** Of requests that arrive twice. */
  doubled: number;
  /** Of requests and answers that take long. */
  late: number;
  /** Of requests that the server answers with an error. */
  refused: number;
  /** The longest that a message takes, in milliseconds. */
  slowness: number;
}

/** A network in which nothing fails. */
const CALM: NetworkWeather = {
  ...{ lost: 0, unanswered: 0, doubled: 0, late: 0, refused: 0, slowness: 30 },
};

/** A long poll is answered after so long. */
const POLL_MS = 25_000;
/** What is late, or comes a second time, does so within this. */
const LATE_MS = 4000;

/** What the server does with a request; it makes the answer when it has committed. */
type Act<T> = (isLate: boolean, answer: (make: () => T) => void) => void;

interface Ask {
  readonly signal: AbortSignal;
}

/** The network between one browser and the server. */
export class ReplicationNetwork {
  readonly weather: NetworkWeather = { ...CALM };
  /** Called with the tokens that have come from the server. */
  onDelivered: (tokens: string[]) => void = () => undefined;
  /** Called with the rows of a push; returns what is called when their answer has come. */
  onPushed: (tab: Tab, rows: readonly LocalChange[]) => () => void = () => () => undefined;
  /** The most rows that the server takes in one push. */
  mostRows = Number.POSITIVE_INFINITY;
  cutUntil = 0;
  readonly #world: World;
  readonly #server: ReplicationServer;
  readonly #rings: boolean;
  readonly #files: SimFiles | undefined;

  /** @param rings Whether the server tells when something is new. */
  constructor(world: World, server: ReplicationServer, rings: boolean, files?: SimFiles) {
    this.#files = files;
    this.#world = world;
    this.#server = server;
    this.#rings = rings;
  }

  get isCut(): boolean {
    return this.cutUntil > this.#world.now;
  }

  heal(): void {
    Object.assign(this.weather, CALM);
    this.cutUntil = 0;
    this.mostRows = Number.POSITIVE_INFINITY;
  }

  /** The server, as a tab reaches it. */
  remoteOf(tab: Tab): Remote<string> {
    const server = this.#server;
    return {
      id: 'sim:orders',
      scopes: true,
      pull: (after, { limit, signal, scope }) =>
        this.request(tab, signal, (_, answer) => answer(() => server.pull(after, limit, scope))),
      push: (rows, { signal }) => {
        // Serialised when it is sent.
        const sent = structuredClone(rows);
        const sentAt = server.newest;
        const answered = this.onPushed(
          tab,
          sent.map((row) => (row.document ? { ...row, id: plainId(row.document) } : row)),
        );
        const results = this.request<PushResult[]>(tab, signal, (isLate, answer) =>
          this.#allowed(sent, answer, (allowed, made) =>
            server.begin(allowed, (first) =>
              made(() => {
                if (sent.length > this.mostRows)
                  throw new ReplicationError('remote_too_large', 'Too large.');
                return server.push(allowed, isLate, first, sentAt);
              }),
            ),
          ),
        );
        results.then(answered, () => undefined);
        return results;
      },
      ...(this.#files && {
        files: this.#files.remote((signal, run) =>
          this.request(tab, signal, (_, answer) => void settle(run(), answer)),
        ),
      }),
      ...(this.#rings && {
        watch: (after: string, ask: Ask) => this.#watch(tab, after, ask),
      }),
    };
  }

  /** Makes rows that name no files, or files that the server has. */
  #allowed(
    rows: readonly LocalChange[],
    answer: (make: () => PushResult[]) => void,
    run: (rows: readonly LocalChange[], made: (make: () => PushResult[]) => void) => void,
  ): void {
    if (!this.#files) run(rows, answer);
    this.#files?.refusals(rows).then(
      (refused) =>
        run(
          rows.filter((_, index) => !refused[index]),
          (make) =>
            answer(() => {
              const made = make();
              return refused.map((refusal) => refusal ?? (made.shift() as PushResult));
            }),
        ),
      (error) => answer(() => failed(error)),
    );
  }

  /** A request, and its answer, as far as they arrive. */
  request<T>(tab: Tab, signal: AbortSignal, act: Act<T>): Promise<T> {
    const { random } = this.#world;
    const { lost, unanswered, doubled, late, refused } = this.weather;
    return new Promise((resolve, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason));
      const onReturn = (call: () => void) =>
        this.#world.after(this.#time(random.chance(late)), tab, call);
      // Some find out that there is no connection, others wait until their deadline.
      const isSilent = random.chance(0.3);
      const fail = () => {
        if (!isSilent) onReturn(() => reject(new TypeError('the network is gone')));
      };
      const isLost = random.chance(lost);
      const isUnanswered = random.chance(unanswered);
      const failure = random.chance(refused) ? this.#failure() : undefined;
      if (this.isCut || isLost) return fail();
      if (!failure && random.chance(doubled))
        this.#world.after(random.between(0, LATE_MS), undefined, () => this.#again(act));
      this.#world.after(this.#time(random.chance(late)), undefined, () => {
        if (this.isCut) return fail();
        if (failure) return onReturn(() => reject(failure));
        act(signal.aborted || tab.dead || tab.frozen, (make) => {
          let answer: T;
          try {
            answer = make();
          } catch (error) {
            return onReturn(() => reject(error));
          }
          if (this.isCut || isUnanswered) return fail();
          onReturn(() => {
            this.onDelivered(tokensIn(answer));
            resolve(answer);
          });
        });
      });
    });
  }

  #again(act: Act<unknown>): void {
    act(true, (make) => {
      try {
        make();
      } catch {
        // Nobody waits for the second answer.
      }
    });
  }

  #time(isLate: boolean): number {
    const { random } = this.#world;
    return random.between(1, isLate ? LATE_MS : this.weather.slowness);
  }

  #failure(): ReplicationError {
    const { random } = this.#world;
    const kind = random.below(5);
    if (kind === 0) return new ReplicationError('remote_unauthorized', '401');
    if (kind > 2) return new ReplicationError('remote_failed', '500');
    return new ReplicationError('remote_failed', '429', { retry_after: random.between(100, 3000) });
  }

  async *#watch(tab: Tab, after: string, { signal }: Ask): AsyncIterable<void> {
    const { random } = this.#world;
    let stop: () => void = () => undefined;
    try {
      await new Promise<void>((resolve, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason));
        const fail = () => reject(new TypeError('the network is gone'));
        if (this.isCut) return void this.#world.after(1, tab, fail);
        stop = this.#server.onNews(after, () => {
          if (this.isCut || random.chance(this.weather.lost)) return;
          this.#world.after(this.#time(false), tab, resolve);
        });
        this.#world.after(POLL_MS, tab, () => (this.isCut ? fail() : resolve()));
      });
    } finally {
      stop();
    }
    yield;
  }
}

/** Answers once a promise has settled. */
export function settle<T>(made: Promise<T>, answer: (make: () => T) => void): Promise<void> {
  return made.then(
    (value) => answer(() => value),
    (error) => answer(() => failed(error)),
  );
}

/** As a page sees the failure of a handler. */
function failed(error: unknown): never {
  if (error instanceof RequestFailure)
    throw new ReplicationError('remote_refused', `${error.code}: ${error.message}`);
  throw new ReplicationError('remote_failed', '503');
}
