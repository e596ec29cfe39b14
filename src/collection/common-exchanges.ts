import { ask, type Exchange } from './exchange.ts';

/** What the methods do that both types of collection have. */
export class CommonExchanges {
  *ready(): Exchange<void> {
    yield* ask({ op: 'ready' });
  }

  *save(): Exchange<void> {
    yield* ask({ op: 'save' });
  }

  *drop(enabled: boolean): Exchange<true> {
    return yield* ask({ op: 'drop', enabled });
  }
}
