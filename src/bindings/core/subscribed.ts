import { draftOf } from './draft.ts';
import { growingList } from './growing-list.ts';
import { queryOf } from './query-of.ts';
import { statusOf } from './status-of.ts';
import { noteRead, otherQuery, settled } from './suspense.ts';

/** What runs behind the hooks. It is larger than they are. */
export const subscribed = {
  draftOf,
  growingList,
  queryOf,
  statusOf,
  noteRead,
  otherQuery,
  settled,
};
