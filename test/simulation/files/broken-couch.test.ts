import { vi } from 'vitest';
import { CouchDatabase } from '../../../src/replication/couchdb/couch-database.ts';
import { LocalFiles } from '../../../src/replication/files/local-files.ts';
import { change, findsBroken } from '../broken.ts';
import { runCouch, runCouchFiles } from '../run-replication.ts';
import { SimCouch } from '../sim-couch.ts';

// Files are in several parts then, and requests are not given hours.
vi.mock('../../../src/replication/protocol/http-fields.ts', async (original) => ({
  ...(await original<object>()),
  PART_BYTES: 1024,
}));

const finds = findsBroken(runCouch);
const findsOfFiles = findsBroken(runCouchFiles);

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

/** Devices that read other attachments of revisions than there are. */
function changeStubs(changed: (stubs: object) => object | undefined) {
  change(CouchDatabase.prototype, 'bodies', async (bodies, ...asked) => {
    const found = [...(await bodies(...asked))].map(([id, documents]) => {
      const others = documents.map(({ _attachments, ...one }) => {
        const stubs = _attachments && changed(_attachments as object);
        return { ...one, ...(stubs ? { _attachments: stubs } : {}) };
      });
      return [id, others] as const;
    });
    return new Map(found) as never;
  });
}

findsOfFiles('an edit that drops what is attached, or sends it once more, is found out', () =>
  changeStubs(() => undefined),
);

findsOfFiles('an edit that drops the attachments of other programs is found out', () =>
  changeStubs((stubs) =>
    Object.fromEntries(Object.entries(stubs).filter(([name]) => name !== 'their.txt')),
  ),
);

findsOfFiles('an edit whose files are not sent with it is found out', () =>
  change(CouchDatabase.prototype, 'writeWithFiles', async function (_, edit, files, signal) {
    const kept = { ...(edit._attachments as Record<string, object>) };
    for (const { sha256 } of files) delete kept[sha256];
    const [made] = await this.write([{ ...edit, _attachments: kept } as typeof edit], signal);
    return made as never;
  }),
);

findsOfFiles('a part of a file in the place of another one is found out', () =>
  change(CouchDatabase.prototype, 'attachment', (attachment, file, [, length], ask) =>
    attachment(file, [0, length], ask),
  ),
);

findsOfFiles('a file that its only device removes before it is attached is found out', () =>
  change(LocalFiles.prototype, 'limit', async function (_, _bytes, { sha256: kept }) {
    for (const sha256 of this.unsent.keys())
      if (sha256 !== kept) await this.remove({ sha256, size: 5000 });
  }),
);
