import type { PullAnswer } from '../replication/protocol/http-answers.ts';
import { DEFAULT_LIMIT } from '../replication/protocol/http-fields.ts';
import type { StreamRequest } from '../replication/protocol/http-requests.ts';
import type { Access } from './access.ts';
import { visiblePage } from './routes.ts';
import { pullScope, type RequestedScope, storedPlace } from './scopes.ts';
import type { Store } from './store.ts';

export interface StreamedCollection {
  readonly access: Access;
  readonly from: StreamRequest;
  /** Asked for each change, as criteria may be others by then. */
  readonly scope: (() => Promise<RequestedScope>) | undefined;
}

/** Milliseconds between two signs of life; a client takes twice as many for the end. */
const BEAT_MS = 15_000;
/** A stream ends after so long: the next one is authorized anew. */
const LIFE_MS = 300_000;
/** Bytes that wait for a slow client before its collections are read on. */
const MOST_WAITING = 65_536;
/** After answers without changes. */
const PAUSE_MS = 1000;

/** The next page behind a checkpoint, for all streams that have come as far. */
interface Step {
  readonly page: Promise<PullAnswer | undefined>;
  readonly ended: AbortController;
  users: number;
}

const steps = new WeakMap<Store, Map<string, Step>>();

/**
 * Waits for changes behind a checkpoint, and reads them: once for all streams of a process, as a
 * change would else bring as many questions to a database as there are clients.
 *
 * @returns `undefined` once the signal aborts.
 */
async function nextPage(
  store: Store,
  name: string,
  after: string,
  signal: AbortSignal,
): Promise<PullAnswer | undefined> {
  const known = steps.get(store) ?? new Map<string, Step>();
  steps.set(store, known);
  const place = `${after} ${name}`;
  const step = known.get(place) ?? begin();
  step.users++;
  let leave: () => void = () => undefined;
  const left = new Promise<undefined>((resolve) => {
    leave = () => resolve(undefined);
  });
  signal.addEventListener('abort', leave);
  if (signal.aborted) leave();
  try {
    return await Promise.race([step.page, left]);
  } finally {
    signal.removeEventListener('abort', leave);
    if (--step.users === 0) step.ended.abort();
  }

  function begin(): Step {
    const ended = new AbortController();
    const read = async () => {
      if (!(await store.watch(name, after, ended.signal))) return undefined;
      return store.pull(name, after, DEFAULT_LIMIT);
    };
    const forget = () => {
      if (known.get(place) === begun) known.delete(place);
    };
    const page = read().finally(forget);
    page.catch(() => undefined);
    const begun: Step = { page, ended, users: 0 };
    ended.signal.addEventListener('abort', forget);
    known.set(place, begun);
    return begun;
  }
}

/** The text of a page that all may see. */
const texts = new WeakMap<PullAnswer, string>();

async function textOf(page: PullAnswer, access: Access): Promise<string> {
  if (access.canRead) return JSON.stringify(await visiblePage(page, access));
  const text = texts.get(page) ?? JSON.stringify(page);
  texts.set(page, text);
  return text;
}

/**
 * The changes of collections as they come, as server-sent events: `id` and `data: { at, after, page
 * }`, with the number of the collection in the request. It ends with the client, after some
 * minutes, and when the store fails.
 *
 * @param signal Aborts when the client has left; not every platform has one.
 */
export function streamEvents(
  store: Store,
  collections: readonly StreamedCollection[],
  signal: AbortSignal | undefined,
  failed: (error: unknown) => void,
): Response {
  const ended = new AbortController();
  const encoder = new TextEncoder();
  let drained: () => void = () => undefined;
  let beat: ReturnType<typeof setInterval>;
  let life: ReturnType<typeof setTimeout>;
  const leave = () => {
    ended.abort();
    clearInterval(beat);
    clearTimeout(life);
    drained();
  };
  const body = new ReadableStream<Uint8Array>(
    {
      start(controller) {
        const send = (text: string) => controller.enqueue(encoder.encode(text));
        const end = () => {
          if (ended.signal.aborted) return;
          leave();
          controller.close();
        };
        beat = setInterval(() => send(':\n\n'), BEAT_MS);
        life = setTimeout(end, LIFE_MS);
        signal?.addEventListener('abort', end);
        // At once: a client that does not get it is behind a proxy that keeps answers.
        send(':\n\n');
        if (signal?.aborted) end();
        const room = async () => {
          while (!ended.signal.aborted && (controller.desiredSize ?? 0) <= 0)
            await new Promise<void>((resolve) => {
              drained = resolve;
            });
        };
        for (const [at, one] of collections.entries())
          follow(store, at, one, ended.signal, send, room).catch((error) => {
            if (!ended.signal.aborted) failed(error);
            end();
          });
      },
      pull: () => drained(),
      cancel: leave,
    },
    { highWaterMark: MOST_WAITING, size: (part) => part.byteLength },
  );
  return new Response(body, {
    headers: {
      'content-type': 'text/event-stream',
      'cache-control': 'no-store, no-transform',
      'x-accel-buffering': 'no', // nginx
      'x-content-type-options': 'nosniff',
    },
  });
}

/** Sends the changes of one collection. */
async function follow(
  store: Store,
  at: number,
  { access, from, scope }: StreamedCollection,
  signal: AbortSignal,
  send: (text: string) => void,
  room: () => Promise<void>,
): Promise<void> {
  let { after } = from;
  while (!signal.aborted) {
    const place = storedPlace(after);
    const read = await nextPage(store, from.name, place, signal);
    if (!read || signal.aborted) return;
    if (read.checkpoint === place && read.changes.length === 0) {
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
      continue;
    }
    const ask = { store, access, collection: from.name };
    const page = scope ? await pullScope(ask, await scope(), after, DEFAULT_LIMIT, read) : read;
    const text = await textOf(page, access);
    await room();
    if (signal.aborted) return;
    // JSON has line breaks between tokens alone.
    const data = `{"at":${at},"after":${JSON.stringify(after)},"page":${text}}`;
    send(`id: ${page.checkpoint}\ndata: ${data.replace(/[\r\n]/g, ' ')}\n\n`);
    after = page.checkpoint;
  }
}
