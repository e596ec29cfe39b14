import { Emitter } from '../collection/emitter.ts';
import type { EventMap, EventName } from '../collection/events.ts';

const NAMES: readonly EventName[] = [
  'status',
  'change',
  'save',
  'index',
  'restore',
  'migration',
  'replication',
  'quota',
  'error',
  'slow_query',
];

/** The events of a client. */
export class ClientEmitter extends Emitter<EventMap> {
  constructor() {
    super(NAMES);
  }
}
