import { connect } from 'cairndb';

// All tabs share one engine, in a worker of the tab that leads. `makeWorker` is only
// there because this page wants to end it; so is the short time that silence may last.
export const openShared = (makeWorker: () => Worker) =>
  connect({ name: 'tabs', worker: makeWorker, answer_timeout: 1 });
