import { isCompared } from '../../engine/protocol/operations.ts';
import type { ManagedReply, ReplyTo, Request } from '../../engine/protocol/requests.ts';
import type { Stamps } from '../../storage/segments/stored-record.ts';

/**
 * The request that repeats an acknowledged change, with the ids and times of the reply.
 *
 * @returns `undefined` where nothing changed.
 */
export function asAcknowledged(request: Request, reply: unknown): Request | undefined {
  switch (request.op) {
    case 'insert': {
      const [id, , stamps] = reply as ManagedReply;
      return { ...request, id, now: acknowledgedTime(stamps) };
    }
    case 'upsert': {
      const [id, , stamps] = reply as ManagedReply;
      return { ...request, id, now: acknowledgedTime(stamps) };
    }
    case 'insertPart': {
      const { indexKeys: _, ...part } = request;
      const { keys, now } = reply as ReplyTo<'insertPart'>;
      // The reply to the last part of an `upsertMany` covers all parts.
      return { ...part, ids: keys.slice(keys.length - request.bodies.length), now };
    }
    case 'update': {
      const [, , stamps] = (reply ?? []) as unknown as ManagedReply;
      return reply === undefined ? undefined : { ...request, now: acknowledgedTime(stamps) };
    }
    case 'replaceIf': {
      if (!reply) return undefined;
      const [, , stamps] = reply as ManagedReply;
      return { ...uncompared(request), now: acknowledgedTime(stamps) };
    }
    case 'patch': {
      const patched = reply as ReplyTo<'patch'>;
      return patched && { ...request, now: patched.now };
    }
    case 'patchMany': {
      const { count, now } = reply as ReplyTo<'patchMany'>;
      return count > 0 ? { ...request, now } : undefined;
    }
    case 'archive':
    case 'unarchive':
      return reply === false ? undefined : { ...request, now: reply as number };
    case 'commit':
      return reply === 'committed' ? request : undefined;
    case 'kvReplace':
      return reply ? uncompared(request) : undefined;
    case 'kvSet':
    case 'kvPush':
    case 'kvAdd':
    case 'kvRemove':
      return request;
    default:
      // A delete; falsy where there was nothing to delete.
      return reply ? request : undefined;
  }
}

/** The request without the version that it names: that belongs to the lost engine, which has compared it. */
export function uncompared(request: Request): Request {
  if (!isCompared(request)) return request;
  const { handle, body } = request;
  return request.op === 'replaceIf'
    ? { op: 'update', handle, id: request.id, body }
    : { op: 'kvSet', handle, key: request.key, body };
}

/** The time of the change: `updated` counts, though a clock set back may make it earlier than `created`. */
function acknowledgedTime(stamps: Stamps | undefined): number | undefined {
  return stamps && (stamps[1] || stamps[0]);
}
