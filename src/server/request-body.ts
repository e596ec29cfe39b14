import { RequestFailure } from './failures.ts';

/** Only JSON: a page of another origin cannot send that without a preflight. */
export function checkContentType({ headers }: Request): void {
  const type = headers.get('content-type')?.split(';')[0]?.trim().toLowerCase();
  const encoding = headers.get('content-encoding');
  if (type === 'application/json' && (encoding === null || encoding === 'identity')) return;
  throw new RequestFailure(
    415,
    'content_type_unsupported',
    'The body must be application/json without a content encoding.',
  );
}

/** Reads JSON of at most `limit` bytes, and no byte beyond. */
export async function readJson(request: Request, limit: number): Promise<unknown> {
  const tooLarge = (): RequestFailure =>
    new RequestFailure(413, 'body_too_large', `The body has more than ${limit} bytes.`);
  if (Number(request.headers.get('content-length')) > limit) throw tooLarge();
  const text = await readText(request, limit, tooLarge);
  try {
    return JSON.parse(text);
  } catch {
    throw new RequestFailure(400, 'json_invalid', 'The body is not JSON.');
  }
}

async function readText(
  request: Request,
  limit: number,
  tooLarge: () => RequestFailure,
): Promise<string> {
  const reader = (await streamOf(request))?.getReader();
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let text = '';
  let bytes = 0;
  try {
    for (let part = await reader?.read(); part && !part.done; part = await reader?.read()) {
      bytes += part.value.byteLength;
      if (bytes > limit) throw tooLarge();
      text += decoder.decode(part.value, { stream: true });
    }
    return text + decoder.decode();
  } catch (error) {
    reader?.cancel().catch(() => undefined);
    if (error instanceof RequestFailure) throw error;
    throw new RequestFailure(400, 'body_unreadable', 'The body ended early or is not UTF-8.');
  }
}

/** Firefox has no `Request.body`: there the handler of a page reads the whole body, which is in memory anyway. */
async function streamOf(request: Request): Promise<ReadableStream<Uint8Array> | null> {
  const { body } = request as { readonly body?: ReadableStream<Uint8Array> | null };
  return body === undefined ? (await request.blob()).stream() : body;
}
