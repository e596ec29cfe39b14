import { connect } from 'cairndb';

const open = () => {
  const db = connect({ name: 'closing' });
  return { db, notes: new db.Collection({ name: 'notes', type: 'DOCUMENT_BASED' }) };
};

// Runs in its own tab, the only one with this database open.
export async function writeAndClose(run: string, count: number, waits: boolean) {
  const { db, notes } = open();
  await notes.insertMany(Array.from({ length: count }, (_, number) => ({ run, number })));
  if (waits) await db.save();
  window.opener.postMessage({ run, unsaved: db.status.unsaved });
  window.close();
}

// Runs in the page that remains.
export async function countWritten(run: string) {
  const { db, notes } = open();
  const count = await notes.count({ run });
  await notes.deleteMany({}); // for the next time
  await db.close();
  return count;
}
