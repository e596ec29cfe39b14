import { graphql } from '../../src/graphql/index.ts';
import { readPushRequest } from '../../src/replication/protocol/http-requests.ts';
import type { Remote } from '../../src/replication/protocol/remote.ts';
import { jsonAnswer, pageToWire, readRow, resultToWire } from './replication-http.ts';
import type { ReplicationNetwork } from './replication-network.ts';
import type { Tab } from './tab.ts';

/** What a server of GraphQL says of a row: `null` is as if left out, but for what is deleted. */
function resultOf(result: Parameters<typeof resultToWire>[0]): object {
  const nothing = { version: null, document: null, deleted: null, conflict: null, rejected: null };
  const isDeleted = 'version' in result && result.document === null;
  return { ...nothing, ...resultToWire(result), ...(isDeleted && { deleted: true }) };
}

/** The client of GraphQL, over the network of the simulation. */
export function graphqlRemote(network: ReplicationNetwork, tab: Tab): Remote<string> {
  const remote = network.remoteOf(tab) as Remote<string>;
  const { watch } = remote;
  return graphql({
    ...{ url: 'https://sim/graphql', name: 'orders', scopes: true },
    pull: (variables) => ({ query: 'pull', variables }),
    push: (rows) => ({ query: 'push', variables: { rows } }),
    ...(watch && { stream: (after, ask) => watch(after, ask) }),
    async fetch(_, { body, signal }) {
      const ask = { signal: signal as AbortSignal };
      const { query, variables } = JSON.parse(String(body));
      const { after, rows, ...asked } = variables;
      const answer =
        query === 'pull'
          ? pageToWire(
              await remote.pull(after ?? undefined, {
                ...{ ...asked, ...ask },
                scope: asked.scope ?? undefined,
              }),
            )
          : (await remote.push(readPushRequest({ rows }).map(readRow), ask)).map(resultOf);
      return jsonAnswer({ data: { [query]: answer } });
    },
  });
}
