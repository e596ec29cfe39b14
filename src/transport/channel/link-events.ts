import type { ClientEvent, LiveEvent } from '../../engine/protocol/event-protocol.ts';
import type { CairnError } from '../../errors/cairn-error.ts';

/** Events of a link. */
export interface LinkEvents {
  /** A route is open: requests may be sent. */
  readonly up: () => void;
  /** The engine is lost; the link looks for the next. */
  readonly down: () => void;
  /** No engine can be reached any more. */
  readonly failed: (error: CairnError) => void;
  readonly event: (event: ClientEvent | LiveEvent) => void;
}
