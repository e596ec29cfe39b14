import { afterEach, expect, test, vi } from 'vitest';
import { type Coroutine, isCoroutine } from '../../src/async/coroutine.ts';
import { DocumentStore } from '../../src/engine/documents/document-store.ts';
import { HostedCollection } from '../../src/engine/hosted-collection.ts';
import { idsOf } from '../../src/engine/update/patches.ts';
import { ReplayBuffer } from '../../src/page/connection/replay.ts';
import type { ReplyTo, Request } from '../../src/protocol/requests.ts';
import { modifyInTabs } from './modify-run.ts';
import { firstFailure } from './run-seeds.ts';

afterEach(() => vi.restoreAllMocks());

const PATIENCE = 600_000;
/** Each of these is found within so many seeds. */
const SOON = 300;

const { execute } = DocumentStore.prototype;

/** Lets documents be changed in another way. */
function changeExecution(
  change: (store: DocumentStore, request: Request) => ReturnType<typeof execute>,
): void {
  vi.spyOn(DocumentStore.prototype, 'execute').mockImplementation(function (
    this: DocumentStore,
    request,
  ) {
    return change(this, request);
  });
}

test(
  'a replayed patch that counts twice is found out',
  async () => {
    const { reapply } = HostedCollection.prototype;
    vi.spyOn(HostedCollection.prototype, 'reapply').mockImplementation(async function (
      this: HostedCollection,
      request,
      ...rest
    ) {
      await reapply.call(this, request, ...rest);
      if (request.op === 'patch') await this.execute(request);
    });
    expect(await firstFailure()).toBeLessThan(SOON);
  },
  PATIENCE,
);

test(
  'a replayed patch that is not recognised once it was saved is found out',
  async () => {
    const { reapply } = HostedCollection.prototype;
    vi.spyOn(HostedCollection.prototype, 'reapply').mockImplementation(function (
      this: HostedCollection,
      request,
      ...rest
    ) {
      if (request.op !== 'patch' && request.op !== 'patchMany')
        return reapply.call(this, request, ...rest);
      return Promise.resolve(this.execute(request)) as Promise<never>;
    });
    expect(await firstFailure()).toBeLessThan(SOON);
  },
  PATIENCE,
);

test(
  'a patchMany that puts documents before all are computed is found out',
  async () => {
    function* oneByOne(
      store: DocumentStore,
      { handle, ids, changes, now, ...selection }: Request<'patchMany'>,
    ): Coroutine<ReplyTo<'patchMany'>> {
      let count = 0;
      for (const id of ids ?? (yield* idsOf(store.scans, selection))) {
        const made = execute.call(store, { op: 'patch', handle, id, changes, now });
        if (isCoroutine(made)) yield* made;
        count++;
      }
      return { count, now: now ?? 0 };
    }
    changeExecution((store, request) =>
      request.op === 'patchMany' ? oneByOne(store, request) : execute.call(store, request),
    );
    expect(await firstFailure()).toBeLessThan(SOON);
  },
  PATIENCE,
);

test(
  'a modify that replaces whatever is there is found out',
  async () => {
    changeExecution((store, request) =>
      execute.call(store, request.op === 'replaceIf' ? { ...request, op: 'update' } : request),
    );
    // In two tabs: the calls of one wait for each other.
    const { made, found } = await modifyInTabs(1, () => undefined);
    expect(found[0]).toBeLessThan(made[0]);
  },
  PATIENCE,
);

test(
  'a patchMany that is not replayed is found out',
  async () => {
    const { note } = ReplayBuffer.prototype;
    vi.spyOn(ReplayBuffer.prototype, 'note').mockImplementation(function (
      this: ReplayBuffer,
      batch,
      first,
      reply,
    ) {
      const added = note.call(this, batch, first, reply);
      this.drop(new Set(this.all().filter(({ request }) => request.op === 'patchMany')));
      return added;
    });
    expect(await firstFailure()).toBeLessThan(SOON);
  },
  PATIENCE,
);

test(
  'an upsertMany that is replayed with the ids of its first part is found out',
  async () => {
    const { all } = ReplayBuffer.prototype;
    vi.spyOn(ReplayBuffer.prototype, 'all').mockImplementation(function (this: ReplayBuffer) {
      const firstIds = new Map<number, Request<'insertPart'>['ids']>();
      return all.call(this).map((change) => {
        const { request } = change;
        if (request.op !== 'insertPart' || !request.upsert) return change;
        const ids = firstIds.get(request.call) ?? request.ids;
        firstIds.set(request.call, ids);
        return { ...change, request: { ...request, ids } };
      });
    });
    // Few seeds have an upsertMany in parts that is replayed: 3731 is the first that fails.
    expect(await firstFailure(undefined, { from: 3700 })).toBeDefined();
  },
  PATIENCE,
);
