import { connect } from 'cairndb';
import { http, replicate } from 'cairndb/replication';
import { type DocUpdate, keepDoc } from 'cairndb/yjs';
import { Awareness } from 'y-protocols/awareness';
import * as Y from 'yjs';

const db = connect({ name: 'shared-text' });

// Each row is a change of a text, in a collection of their own.
const texts = new db.Collection<DocUpdate>({
  name: 'texts',
  type: 'DOCUMENT_BASED',
  indexes: ['doc'],
});

const doc = new Y.Doc();
export const text = doc.getText('letter');

/** Who is in the other tabs of this browser. */
export const awareness = new Awareness(doc);
export const kept = keepDoc(texts, doc, { name: 'letter', awareness });

/** Rows go to the server and come from it: other browsers, other people. */
export const sync = replicate(texts, { remote: http({ url: '/sync/texts' }) });
