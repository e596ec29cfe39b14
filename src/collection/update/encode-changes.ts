import { type Body, encodeCaptured } from '../../codec/body.ts';
import { type Captured, capture } from '../../codec/capture.ts';
import { isPlainObject } from '../../codec/kinds.ts';
import { checkCriteria } from '../find/check-criteria.ts';
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
  const captured = isPlainObject(changes) ? captureChanges(changes) : undefined;
  const copy = checkUpdate(captured ? captured.copy : changes);
  checkCriteria(copy.$pull, 'changes.$pull');
  const mayHang = holdsPattern(copy.$pull) || undefined;
  return { changes: encodeCaptured({ copy, json: captured?.json === true }), mayHang };
}

/** What is compared with items and not stored may be of a subclass, as in criteria. */
function captureChanges(changes: object): Captured {
  const stored: Record<string, unknown> = { ...changes };
  const compared: Record<string, unknown> = {};
  for (const name of ['$pull', '$pullAll']) {
    if (!Object.hasOwn(stored, name)) continue;
    compared[name] = stored[name];
    delete stored[name];
  }
  const [one, other] = [capture(stored, 'changes'), capture(compared, 'changes', true)];
  return {
    copy: { ...(one.copy as object), ...(other.copy as object) },
    json: one.json && other.json,
  };
}
