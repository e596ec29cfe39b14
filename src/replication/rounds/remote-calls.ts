import type { Clock } from '../../async/clock.ts';
import { inSlices } from '../../async/next-turn.ts';
import { isPlainObject } from '../../codec/kinds.ts';
import { CairnError } from '../../errors/errors.ts';
import { ReplicationError } from '../../errors/replication-error.ts';
import { orAborted } from '../../page/sending/call-arguments.ts';
import type { ScopeState } from '../../protocol/replica-protocol.ts';
import { followRequests } from '../fetching/fetcher.ts';
import { slowedDown } from '../fetching/slowdown.ts';
import type { RoundFiles } from '../protocol/files.ts';
import { PART_BYTES } from '../protocol/http-fields.ts';
import {
  type FileAsk,
  type LocalChange,
  type PackedPage,
  type PulledPage,
  type PushResult,
  packedPulls,
  type Remote,
  type RemoteChange,
  type RemoteFile,
  type RemoteFiles,
  type ReplicationScope,
} from '../protocol/remote.ts';
import type { ReplicationSettings } from '../replication-options.ts';

/** A call that is silent for longer has failed: networks lose answers without a sign. */
const DEADLINE_MS = 60_000;

/** The deadline begins anew with so many bytes of an answer: slower networks are offline. */
export const STEP_BYTES = PART_BYTES / 64;

/** Longest version that is kept, in characters. */
const MAX_VERSION = 1024;

/** Documents asked for in one pull; a remote may send more. */
export const PULL_LIMIT = 1000;

/** What a pull has beside its place. */
type PullHow = Omit<Parameters<Remote['pull']>[1], 'limit' | 'signal'>;

/**
 * The calls to a remote, with deadlines; checks what it answers, as it may be anybody's code or
 * server.
 */
export class RemoteCalls {
  readonly #remote: Remote;
  readonly #ended: AbortSignal;
  readonly #clock: Clock;

  /** @param ended Aborts all calls. */
  constructor(remote: Remote, ended: AbortSignal, clock: Clock) {
    this.#remote = remote;
    this.#ended = ended;
    this.#clock = clock;
  }

  /** @param isFirst Whether it may be a packed page. */
  async pull(
    after: unknown,
    how: PullHow = {},
    isFirst = false,
  ): Promise<PackedPage | PulledPage<unknown>> {
    const packed = isFirst ? packedPulls.get(this.#remote.pull) : undefined;
    const page = await this.#inTime<PackedPage | PulledPage<unknown>>((signal) => {
      const ask = { limit: PULL_LIMIT, signal, ...how };
      return packed ? packed(after as string | undefined, ask) : this.#remote.pull(after, ask);
    });
    return packed && 'packed' in page ? page : this.#checked(page as PulledPage<unknown>);
  }

  async unpack(page: PackedPage): Promise<PulledPage<unknown>> {
    return this.#checked(
      await this.#inTime((signal) => page.unpack({ limit: PULL_LIMIT, signal })),
    );
  }

  async #checked(page: PulledPage<unknown>): Promise<PulledPage<unknown>> {
    if (!Array.isArray(page?.changes)) throw invalid('pull() returned no page');
    await inSlices(this.#clock, page.changes, checkChange);
    for (const one of page.rejected ?? [])
      if (!isText(one?.id) || typeof one.reason !== 'string')
        throw invalid('a rejected document has no id or reason');
    if (page.checkpoint === undefined) throw invalid('pull() returned no checkpoint');
    return page;
  }

  /** @param files Where the remote asks for their content. */
  async push(
    rows: readonly LocalChange[],
    files?: Pick<RoundFiles, 'content'>,
  ): Promise<readonly PushResult[]> {
    const results = await this.#inTime((signal, _, sending) => {
      if (!files || !this.#remote.files?.areAttached) return this.#remote.push(rows, { signal });
      let bytes = 0;
      const content = async (file: RemoteFile) => {
        const found = await files.content(file);
        // All of it is one request.
        bytes += found?.size ?? 0;
        sending(bytes);
        return found;
      };
      return this.#remote.push(rows, { signal, content });
    });
    if (!Array.isArray(results) || results.length !== rows.length)
      throw invalid(`push() of ${rows.length} documents returned another number of results`);
    for (const [index, result] of results.entries())
      checkResult(result, (rows[index] as LocalChange).id);
    return results;
  }

  /** Runs a call about files, which the remote must have. */
  files<T>(call: (files: RemoteFiles, ask: FileAsk) => Promise<T>): Promise<T> {
    return this.#inTime((signal, onBytes) =>
      call(this.#remote.files as RemoteFiles, { signal, onBytes }),
    );
  }

  /**
   * Runs a call of the remote, which may ignore its signal.
   *
   * @param call Gets functions for bytes that come, and for those that it sends.
   */
  async #inTime<T>(
    call: (
      signal: AbortSignal,
      received: (bytes: number) => void,
      sending: (bytes: number) => void,
    ) => Promise<T>,
  ): Promise<T> {
    const controller = new AbortController();
    const { signal } = controller;
    const abort = () => controller.abort(this.#ended.reason);
    let cancel: (() => void) | undefined;
    let isOver = false;
    let count = 0;
    const renew = (ms = DEADLINE_MS) => {
      cancel?.();
      if (!isOver) cancel = this.#clock.after(ms, () => controller.abort(lateAnswer(ms)), true);
    };
    const received = (bytes: number) => {
      count += bytes;
      if (bytes > 0 && count < STEP_BYTES) return;
      count = 0;
      renew();
    };
    // Nothing tells how far they have come.
    const sending = (bytes: number) => renew(DEADLINE_MS + Math.ceil(bytes / STEP_BYTES) * 1000);
    followRequests(signal, { received, sending });
    renew();
    if (this.#ended.aborted) abort();
    this.#ended.addEventListener('abort', abort);
    try {
      return await orAborted(call(signal, received, sending), signal);
    } catch (cause) {
      if (this.#ended.aborted) throw cause;
      return throwFailure(cause);
    } finally {
      isOver = true;
      cancel?.();
      this.#ended.removeEventListener('abort', abort);
    }
  }
}

/** Waits for changes of a remote that reports them. */
export function remoteWatch({ remote, direction }: ReplicationSettings, clock: Clock) {
  const run = slowedDown(clock);
  const hears = direction !== 'push' && remote.watch;

  /**
   * Resolves with `true` when the server may have something new, with `undefined` where nothing
   * tells for now; `undefined` where it reports none.
   *
   * @param checkpoint Where the last round has pulled to; of the first scope.
   */
  return (
    checkpoint: string,
    pulled: readonly ScopeState[] | undefined,
    signal: AbortSignal,
  ): Promise<true | undefined> | undefined => {
    const scopes = pulled?.map((one) => ({
      scope: JSON.parse(one.name) as ReplicationScope,
      after: JSON.parse(one.checkpoint as string) as unknown,
    }));
    const ring = async (): Promise<true | undefined> => {
      const changes = remote.watch?.(JSON.parse(checkpoint), { signal, scopes }) ?? [];
      for await (const _ of changes) return true;
      return undefined;
    };
    const places = scopes ? JSON.stringify(scopes) : checkpoint;
    return hears ? run(places, signal, ring).catch(throwFailure) : undefined;
  };
}

function lateAnswer(ms: number): ReplicationError {
  const message = `The server has not answered within ${ms / 1000} s.`;
  return new ReplicationError('remote_timeout', message);
}

/** fetch() rejects with a TypeError where there is no connection, or with a DOMException. */
function throwFailure(cause: unknown): never {
  if (cause instanceof CairnError) throw cause;
  const { message = String(cause), name = '' } = (cause ?? {}) as Partial<Error>;
  if (cause instanceof TypeError || /^(?:Abort|Network|Timeout)Error$/.test(name))
    throw new ReplicationError('remote_offline', `The server cannot be reached: ${message}`, {
      cause,
    });
  throw new ReplicationError('remote_failed', `The remote threw: ${message}`, { cause });
}

function checkChange(change: RemoteChange): void {
  if (!isObject(change) || !isText(change.id)) throw invalid('a document has no id');
  const { id, version, document, key } = change;
  if (!isVersion(version)) throw invalid('it has no version, which is a string', id);
  checkDocument(document, id);
  if (key !== undefined && typeof key !== 'string') throw invalid('its key is no string', id);
}

function checkResult(result: PushResult, id: string): void {
  if (!isObject(result)) throw invalid('the result of its push is no object', id);
  if ('conflict' in result) {
    checkChange(result.conflict);
    if (result.conflict.id !== id) throw invalid('its conflict is of another document', id);
  } else if ('rejected' in result) {
    if (typeof result.rejected?.reason !== 'string') throw invalid('it has no reason', id);
  } else if (!isVersion(result.version))
    throw invalid('it was accepted without a version, which is a string', id);
  else checkDocument(result.document, id);
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null;
}

/**
 * An id may be as long as a client has made it: one that is refused here would stop all clients.
 */
function isText(value: unknown): value is string {
  return typeof value === 'string' && value.length > 0;
}

function isVersion(value: unknown): value is string {
  return isText(value) && value.length <= MAX_VERSION;
}

function checkDocument(value: unknown, id: string): void {
  if (value && !(isPlainObject(value) && (value as { _id?: unknown })._id === id))
    throw invalid('it is no object with that _id', id);
}

/** @param id Left out where the answer as a whole is invalid. */
export function invalid(what: string, id?: string, cause?: unknown): ReplicationError {
  const subject = id === undefined ? '' : ` document "${id}":`;
  return new ReplicationError(
    'answer_invalid',
    `The server's answer is not understood:${subject} ${what}. Nothing of it was applied.`,
    { place: id, cause },
  );
}
