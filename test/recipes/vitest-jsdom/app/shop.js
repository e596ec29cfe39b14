import { connect } from 'cairndb';

export const db = connect({ name: 'shop' });
export const orders = new db.Collection({ name: 'orders', type: 'DOCUMENT_BASED' });
