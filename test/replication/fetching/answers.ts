/** Answers that no server should give. */

export function jsonAnswer(body: unknown, status = 200, headers: HeadersInit = {}): Response {
  return new Response(JSON.stringify(body), {
    status,
    headers: { 'content-type': 'application/json', ...headers },
  });
}

export function textAnswer(text: string, type = 'application/json', status = 200): Response {
  return new Response(text, { status, headers: { 'content-type': type } });
}

/** Sends chunks as long as somebody reads. */
export function endlessAnswer(onCancel: () => void): Response {
  const chunk = new TextEncoder().encode(`"${'x'.repeat(1024 * 1024)}",`);
  const body = new ReadableStream<Uint8Array>({
    pull: (controller) => controller.enqueue(chunk),
    cancel: onCancel,
  });
  return new Response(body, { headers: { 'content-type': 'application/json' } });
}

/** Sends some bytes, and then nothing more. */
export function hangingAnswer(text: string): {
  readonly response: Response;
  send(more: string): void;
} {
  let controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  const encoder = new TextEncoder();
  const body = new ReadableStream<Uint8Array>({
    start(started) {
      controller = started;
      controller.enqueue(encoder.encode(text));
    },
  });
  return {
    response: new Response(body, { headers: { 'content-type': 'application/json' } }),
    send: (more) => controller?.enqueue(encoder.encode(more)),
  };
}

/** The connection breaks in the middle of the body. */
export function brokenAnswer(text: string): Response {
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      controller.enqueue(new TextEncoder().encode(text));
    },
    pull(controller) {
      controller.error(new TypeError('terminated'));
    },
  });
  return new Response(body, { headers: { 'content-type': 'application/json' } });
}
