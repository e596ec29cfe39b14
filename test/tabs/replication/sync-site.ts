import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { documentFiles, memoryFiles } from '../../../src/server/files/index.ts';
import { createHandler, memory, nodeListener, type Store } from '../../../src/server/index.ts';

/** The moment of a push at which it is held: before or after it takes effect. */
export type HeldMoment = 'before' | 'after';

/** A server whose pushes can be held. */
export interface SyncSite {
  readonly url: string;
  /**
   * Holds the next push. `held` resolves with it, `release` lets it go on and resolves when it is
   * over.
   */
  hold(moment: HeldMoment): { readonly held: Promise<void>; release(): Promise<void> };
  /** The documents of a collection, by id. */
  documents(collection: string): Promise<Record<string, object>>;
  /** How many changes a collection has had. */
  changes(collection: string): Promise<number>;
  /** Changes a document as another client would. */
  write(
    collection: string,
    document: { readonly _id: string; readonly owner?: string },
  ): Promise<void>;
  /** How many streams of changes are open. */
  streams(): number;
  /** The server cannot be reached until {@link listen}. */
  cut(): Promise<void>;
  listen(): Promise<void>;
  close(): Promise<void>;
}

export async function serveSync(): Promise<SyncSite> {
  const store = memory();
  let hold: ((push: () => Promise<unknown>) => Promise<unknown>) | undefined;
  const holding: Store = {
    pull: (...asked) => store.pull(...asked),
    read: (...asked) => store.read(...asked),
    served: async (...asked) => (await store.served?.(...asked)) ?? [],
    watch: (...asked) => store.watch(...asked),
    push: (...pushed) => {
      const held = hold;
      hold = undefined;
      const push = () => store.push(...pushed);
      return (held ? held(push) : push()) as ReturnType<Store['push']>;
    },
  };
  const handler = createHandler({
    ...{ store: holding, authorize: () => true, cors: { origins: '*' } },
    scopes: { owner: (owner) => ({ owner }) },
    files: documentFiles({ store: memoryFiles() }),
  });
  const listener = nodeListener(handler);
  let streams = 0;
  const server = createServer((request, response) => {
    if (request.method === 'POST' && request.url?.endsWith('/stream')) {
      streams++;
      response.on('close', () => streams--);
    }
    return listener(request, response);
  });
  let port = 0;
  const listen = async (): Promise<void> => {
    await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
    ({ port } = server.address() as AddressInfo);
  };
  const cut = async (): Promise<void> => {
    const closed = new Promise((resolve) => server.close(resolve));
    server.closeAllConnections();
    await closed;
  };
  await listen();
  return {
    url: `http://127.0.0.1:${port}/sync`,
    hold(moment) {
      const [arrived, released, over] = [signal(), signal(), signal()];
      hold = async (push) => {
        const early = moment === 'after' ? await push() : undefined;
        arrived.give();
        await released.given;
        const results = early ?? (await push());
        over.give();
        return results;
      };
      const release = (): Promise<void> => {
        released.give();
        return over.given;
      };
      return { held: arrived.given, release };
    },
    async documents(collection) {
      const { changes } = await store.pull(collection, undefined, 1000);
      return Object.fromEntries(
        changes.flatMap(({ id, document }) => (document ? [[id, document]] : [])),
      );
    },
    async changes(collection) {
      const { checkpoint } = await store.pull(collection, undefined, 1000);
      return Number(checkpoint.split('.')[1]);
    },
    async write(collection, document) {
      const [row] = await store.read(collection, [document._id]);
      const base = row?.version;
      const key = `${document._id} ${base}`;
      await store.push(collection, [{ id: document._id, base, key, document }]);
    },
    streams: () => streams,
    cut,
    listen,
    close: cut,
  };
}

/** A promise that somebody else resolves. */
function signal(): { readonly given: Promise<void>; give(): void } {
  let give: () => void = () => undefined;
  const given = new Promise<void>((resolve) => {
    give = resolve;
  });
  return { given, give };
}
