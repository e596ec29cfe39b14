import { type Body, encodeCaptured } from '../../codec/body.ts';
import { capture } from '../../codec/capture.ts';
import { isPlainObject } from '../../codec/kinds.ts';
import { refuseForeignPatterns } from '../find/foreign-pattern.ts';
import { holdsPattern } from '../find/holds-pattern.ts';
import { checkUpdate } from './check-update.ts';

/** The changes of a patch in a request. */
export interface EncodedChanges {
  readonly changes: Body;
  readonly mayHang: true | undefined;
}

/** Checks and encodes the changes of a patch. */
export function encodeChanges(changes: unknown): EncodedChanges {
  // Of a copy: a getter may give another value each time.
  const captured = isPlainObject(changes) ? capture(changes, 'changes') : undefined;
  const copy = checkUpdate(captured ? captured.copy : changes);
  refuseForeignPatterns(copy.$pull, 'changes.$pull');
  const mayHang = holdsPattern(copy.$pull) || undefined;
  return { changes: encodeCaptured({ copy, json: captured?.json === true }), mayHang };
}
