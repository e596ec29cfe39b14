import { connect } from 'cairndb';

// The engine starts in a worker. There is nothing to configure.
export const openDatabase = () => connect({ name: 'playground' });
