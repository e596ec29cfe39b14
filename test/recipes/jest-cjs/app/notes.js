import { connect } from 'cairndb';

export const db = connect({ name: 'notes', storage: 'memory' });
export const notes = new db.Collection({ name: 'notes', type: 'DOCUMENT_BASED' });
