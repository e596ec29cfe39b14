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
  on(event: 'close', listener: () => void): unknown;
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
    const body = new Uint8Array(await response.arrayBuffer());
    if (left.signal.aborted) return;
    outgoing.writeHead(response.status, headers);
    outgoing.end(body);
  };
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
