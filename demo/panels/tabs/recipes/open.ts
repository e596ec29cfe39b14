import { connect } from 'cairndb';

// All tabs share one engine, in a worker of the leader. `makeWorker` and the short
// timeout are here only because this page crashes the worker on purpose.
export const openShared = (makeWorker: () => Worker) =>
  connect({ name: 'tabs', worker: makeWorker, answer_timeout: 1 });
