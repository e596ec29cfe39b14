import { CouchDatabase } from '../../src/replication/couchdb/couch-database.ts';
import { change, findsBroken } from './broken.ts';
import { runCouch } from './run-replication.ts';
import { SimCouch } from './sim-couch.ts';

const finds = findsBroken(runCouch);

finds('a push that is not known again after its answer was lost is found out', () =>
  change(SimCouch.prototype, 'handle', (handle, { body, ...sent }, ...how) => {
    const text = JSON.stringify(body)?.replaceAll(/"key":"[^"]*"/g, '"key":""');
    return handle({ ...sent, body: text && JSON.parse(text) }, ...how);
  }),
);

finds('branches that nobody looks at are found out', () =>
  change(CouchDatabase.prototype, 'changes', async (changes, ...asked) => {
    const answer = await changes(...asked);
    return { ...answer, rows: answer.rows.map((row) => ({ ...row, conflicts: [] })) };
  }),
);

finds('a branch that is deleted before its fields are in the winner is found out', () =>
  change(CouchDatabase.prototype, 'write', (write, edits, signal) => {
    const isMerge = edits.every(({ _deleted, $cairn }) => !_deleted && !Object($cairn).key);
    // The mark has no fields that a winner could lack.
    if (!isMerge || edits.some(({ history }) => history !== undefined)) return write(edits, signal);
    return Promise.resolve(edits.map(({ _rev }) => ({ revision: String(_rev) })));
  }),
);

finds('a database whose older copy is taken for the same history is found out', () =>
  change(CouchDatabase.prototype, 'knows', async () => true),
);
