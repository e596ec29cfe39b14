import { run } from '../async/coroutine.ts';
import { asCairnError } from '../errors/errors.ts';
import type { Request } from '../protocol/requests.ts';
import type { DatabaseRequests } from './backups/database-requests.ts';
import type { EngineEnvironment } from './collection-context.ts';
import type { Executor, GiveUp } from './executor.ts';
import type { OpenCollections } from './open-collections.ts';
import { parts } from './parts.ts';

/** Executes requests about the whole database, whose code loads with the first. */
export class DatabaseExecutor implements Executor {
  readonly #environment: EngineEnvironment;
  readonly #collections: OpenCollections;
  #requests: DatabaseRequests | undefined;

  constructor(environment: EngineEnvironment, collections: OpenCollections) {
    this.#environment = environment;
    this.#collections = collections;
  }

  async execute(request: Request): Promise<unknown> {
    // At once: collections of the new name wait for it.
    if (request.op === 'rename')
      return this.#collections.order.run(() => this.#collections.rename(request.from, request.to));
    const { DatabaseRequests } = await run(parts.need('backups'));
    this.#requests ??= new DatabaseRequests(this.#environment, this.#collections);
    return this.#requests.execute(request);
  }

  /** Resolves when the imports under way have ended; `undefined` where there are none. */
  get importing(): Promise<unknown> | undefined {
    return this.#requests?.importing;
  }

  giveUp(request: GiveUp): void {
    this.execute(request).catch((cause: unknown) =>
      this.#environment.events.reportError(asCairnError(cause)),
    );
  }
}
