import { CairnError } from './cairn-error.ts';

/** @throws {CairnError} `load_failed` */
export function loadFailed(cause: unknown): never {
  throw new CairnError(
    'load_failed',
    'ServiceWorkerGlobalScope' in globalThis
      ? "Service workers have no import(): import 'cairndb/static', or bundle it."
      : 'A part of Cairn did not load: call again once online.',
    { cause },
  );
}
