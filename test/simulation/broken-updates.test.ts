import { expect, test } from 'vitest';
import { type Coroutine, isCoroutine } from '../../src/async/coroutine.ts';
import { DocumentStore } from '../../src/engine/documents/document-store.ts';
import { HostedCollection } from '../../src/engine/hosted-collection.ts';
import { idsOf } from '../../src/engine/update/patches.ts';
import { ReplayBuffer } from '../../src/page/connection/replay.ts';
import type { ReplyTo, Request } from '../../src/protocol/requests.ts';
import { change, findsBroken } from './broken.ts';
import { modifyInTabs } from './modify-run.ts';

const PATIENCE = 600_000;
const finds = findsBroken(undefined);

finds('a replayed patch that counts twice is found out', () =>
  change(HostedCollection.prototype, 'reapply', async function (reapply, request, ...rest) {
    await reapply(request, ...rest);
    if (request.op === 'patch') await this.execute(request);
  }),
);

finds('a replayed patch that is not recognised once it was saved is found out', () =>
  change(HostedCollection.prototype, 'reapply', function (reapply, request, ...rest) {
    return request.op === 'patch' || request.op === 'patchMany'
      ? (Promise.resolve(this.execute(request)) as Promise<never>)
      : reapply(request, ...rest);
  }),
);

finds('a patchMany that puts documents before all are computed is found out', () => {
  function* oneByOne(
    store: DocumentStore,
    execute: DocumentStore['execute'],
    { handle, ids, changes, now, ...selection }: Request<'patchMany'>,
  ): Coroutine<ReplyTo<'patchMany'>> {
    let count = 0;
    for (const id of ids ?? (yield* idsOf(store.scans, selection))) {
      const made = execute({ op: 'patch', handle, id, changes, now });
      if (isCoroutine(made)) yield* made;
      count++;
    }
    return { count, now: now ?? 0 };
  }
  change(DocumentStore.prototype, 'execute', function (execute, request) {
    return request.op === 'patchMany' ? oneByOne(this, execute, request) : execute(request);
  });
});

finds('a patchMany that is not replayed is found out', () =>
  change(ReplayBuffer.prototype, 'note', function (note, ...args) {
    const added = note(...args);
    this.drop(new Set(this.all().filter(({ request }) => request.op === 'patchMany')));
    return added;
  }),
);

test('a modify that replaces whatever is there is found out', { timeout: PATIENCE }, async () => {
  change(DocumentStore.prototype, 'execute', (execute, request) =>
    execute(request.op === 'replaceIf' ? { ...request, op: 'update' } : request),
  );
  // In two tabs: the calls of one wait for each other.
  const { made, found } = await modifyInTabs(1, () => undefined);
  expect(found[0]).toBeLessThan(made[0]);
});

finds('an upsertMany that is replayed with the ids of its first part is found out', () =>
  change(ReplayBuffer.prototype, 'all', (all) => {
    const firstIds = new Map<number, Request<'insertPart'>['ids']>();
    return all().map((replayed) => {
      const { request } = replayed;
      if (request.op !== 'insertPart' || !request.upsert) return replayed;
      const ids = firstIds.get(request.call) ?? request.ids;
      firstIds.set(request.call, ids);
      return { ...replayed, request: { ...request, ids } };
    });
  }),
);
