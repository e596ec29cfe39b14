import type { Plugin } from 'rolldown';

const ID = '\0no-inline-worker';

/** Leaves the copy of the engine out that `inline-worker.ts` carries as text: where there are no workers it is dead weight. */
export function withoutInlineWorker(): Plugin {
  return {
    name: 'without-inline-worker',
    resolveId: (id) => (id.endsWith('/inline-worker.ts') ? ID : null),
    load: (id) =>
      id === ID
        ? "export function inlineWorker() { throw new Error('cairndb/static carries no worker'); }"
        : null,
  };
}
