import { connect } from 'cairndb';

// The engine starts in a worker. There is nothing else to set up.
export const openDatabase = () => connect({ name: 'playground' });
