import { connect } from 'cairndb';
import {
  type FilePlaceholder,
  http,
  mergeFields,
  type RemoteFetch,
  replicate,
} from 'cairndb/replication';

export interface Item {
  title: string;
  amount: number;
  note: string;
  shop: 'Market' | 'Bakery';
  photo?: Blob | FilePlaceholder;
}

// An app leaves out `fetch` and `resolve`. Here `fetch` leads to a server inside of the page.
// `resolve` is the default, named: so merges that lose nothing are reported as well.
export function openDevice(name: string, fetch: RemoteFetch) {
  const db = connect({ name, storage: 'memory' });
  const items = new db.Collection<Item>({ name: 'items', type: 'DOCUMENT_BASED' });
  const sync = replicate(items, {
    remote: http({ url: 'https://example.com/sync/items', fetch }),
    resolve: mergeFields,
    scopes: [{ shop: 'Market' }],
    files: 'lazy',
  });
  return { db, items, sync };
}

export type OpenDevice = ReturnType<typeof openDevice>;
