import { connect } from 'cairndb';

const open = () => {
  const db = connect({ name: 'closing' });
  return { db, notes: new db.Collection({ name: 'notes', type: 'DOCUMENT_BASED' }) };
};

// In a tab of its own: acknowledged, and gone. Nobody else has this database open.
export async function writeAndClose(run: string, count: number, waits: boolean) {
  const { db, notes } = open();
  await notes.insertMany(Array.from({ length: count }, (_, number) => ({ run, number })));
  if (waits) await db.save();
  window.opener.postMessage({ run, unsaved: db.status.unsaved });
  window.close();
}

// In the page that stays, once that tab is gone.
export async function countWritten(run: string) {
  const { db, notes } = open();
  const count = await notes.count({ run });
  await notes.deleteMany({}); // for the next time
  await db.close();
  return count;
}
