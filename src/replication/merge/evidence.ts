import { isPlainObject } from '../../codec/kinds.ts';
import { sameContent } from './same-content.ts';

/** Managed values that say nothing: many documents have the same. */
const COMMON: ReadonlySet<string> = new Set(['_id', '_updated', '_archived']);

/** A field that is missing tells less than a value. */
const MISSING_WEIGHT = 0.001;

/**
 * How many fields of a document are as a push has left them, and not as they were before; less those that are as before.
 * Above 0, the document rather derives from the push.
 */
export function evidenceOf(document: unknown, pushed: unknown, before: unknown): number {
  if (!isPlainObject(document))
    return Number(sameContent(document, pushed)) - Number(sameContent(document, before));
  let evidence = 0;
  for (const key of new Set([document, pushed, before].flatMap((one) => Object.keys(one ?? {})))) {
    if (COMMON.has(key)) continue;
    const [value, ...others] = [document, pushed, before].map((one) => fieldOf(one, key));
    const weight = value === undefined ? MISSING_WEIGHT : 1;
    evidence += weight * evidenceOf(value, ...(others as [unknown, unknown]));
  }
  return evidence;
}

function fieldOf(fields: unknown, key: string): unknown {
  return isPlainObject(fields) && Object.hasOwn(fields, key)
    ? (fields as Record<string, unknown>)[key]
    : undefined;
}
