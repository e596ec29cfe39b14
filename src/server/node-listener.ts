import type { Handler } from './handler.ts';

/** What {@link nodeListener} needs of Node's `IncomingMessage`. */
export interface NodeRequest extends AsyncIterable<unknown> {
  readonly method?: string | undefined;
  readonly url?: string | undefined;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** Whether all of the body was received. */
  readonly complete: boolean;
}

/** What {@link nodeListener} needs of Node's `ServerResponse`. */
export interface NodeResponse {
  readonly writableEnded: boolean;
  on(event: 'close' | 'drain', listener: () => void): unknown;
  /** Whether more can be written: `false` until the event `drain`. */
  write(part: Uint8Array): boolean;
  writeHead(status: number, headers: Record<string, string>): unknown;
  end(body?: Uint8Array): unknown;
}

/**
 * Turns a handler into a listener for `http.createServer()` of Node.
 *
 * @example
 * ```ts
 * createServer(nodeListener(createHandler({ store, authorize }))).listen(8080);
 * ```
 */
export function nodeListener(
  handler: Handler,
): (request: NodeRequest, response: NodeResponse) => Promise<void> {
  return async (incoming, outgoing) => {
    const left = new AbortController();
    outgoing.on('close', () => {
      if (!outgoing.writableEnded) left.abort(); // the client has left
    });
    const request = toRequest(incoming, left.signal);
    const response = request ? await handler(request) : new Response(null, { status: 400 });
    const headers = Object.fromEntries(response.headers);
    // Else Node reads the rest of a refused body to its end.
    if (!incoming.complete) headers.connection = 'close';
    if (headers['content-type'] === 'text/event-stream') {
      outgoing.writeHead(response.status, headers);
      return sendParts(response, outgoing, left.signal);
    }
    const body = new Uint8Array(await response.arrayBuffer());
    if (left.signal.aborted) return;
    outgoing.writeHead(response.status, headers);
    outgoing.end(body);
  };
}

/** Sends a body part by part, as fast as the client takes it. */
async function sendParts(
  { body }: Response,
  outgoing: NodeResponse,
  left: AbortSignal,
): Promise<void> {
  const reader = body?.getReader();
  const cancel = () => void reader?.cancel().catch(() => undefined);
  left.addEventListener('abort', cancel);
  if (left.aborted) cancel();
  let goOn: () => void = () => undefined;
  for (const event of ['drain', 'close'] as const) outgoing.on(event, () => goOn());
  for (let part = await reader?.read(); part && !part.done; part = await reader?.read()) {
    if (outgoing.write(part.value) || left.aborted) continue;
    await new Promise<void>((resolve) => {
      goOn = resolve;
    });
  }
  outgoing.end();
}

function toRequest(incoming: NodeRequest, signal: AbortSignal): Request | undefined {
  const { method = 'GET', url = '/', headers } = incoming;
  const list = Object.entries(headers).flatMap(([name, value]) => {
    if (value === undefined || name.startsWith(':')) return []; // pseudo-headers of HTTP/2
    return [[name, typeof value === 'string' ? value : value.join(', ')] as [string, string]];
  });
  const hasBody = method !== 'GET' && method !== 'HEAD';
  try {
    // The host is what the client says it is: only the path counts.
    return new Request(`http://localhost${url}`, {
      method,
      headers: list,
      signal,
      ...(hasBody && { body: bodyOf(incoming), duplex: 'half' }),
    } as RequestInit);
  } catch {
    return undefined; // a method or URL that fetch does not know
  }
}

/** Reads only what the handler asks for. */
function bodyOf(incoming: AsyncIterable<unknown>): ReadableStream<Uint8Array> {
  const parts = incoming[Symbol.asyncIterator]();
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await parts.next();
      if (done) controller.close();
      else controller.enqueue(value as Uint8Array);
    },
  });
}
