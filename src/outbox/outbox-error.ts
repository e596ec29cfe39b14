import { readRetryAfter } from '../async/retries.ts';
import { CairnError, type CairnErrorDetails } from '../errors/errors.ts';

/** Codes of {@link OutboxError}. */
export type OutboxErrorCode =
  /** The server does not accept the call: it is undone. */
  | 'call_refused'
  /** The server could not take the call for now: it is sent again. */
  | 'call_failed'
  /** `send` did not settle in time: the call is sent again. */
  | 'call_timeout'
  /** `pending.discard()` has removed the call. */
  | 'call_discarded'
  /** `flush()` waited for its timeout. */
  | 'flush_timeout'
  /** The outbox was stopped, or its client closed; the call stays stored. */
  | 'outbox_stopped';

/** Details of an {@link OutboxError}. */
export interface OutboxErrorDetails extends CairnErrorDetails {
  /** The status of the answer. */
  readonly status?: number | undefined;
  /** The text of the answer, of at most 10,000 characters. */
  readonly answer?: string | undefined;
  /** Milliseconds after which the server wants to be asked again. */
  readonly retry_after?: number | undefined;
}

/**
 * A call of an outbox was refused, failed or was given up; `place` is its action or id. A `send`
 * that throws one with the code `call_refused` refuses its call.
 */
export class OutboxError extends CairnError<OutboxErrorCode> {
  static {
    this.prototype.name = 'OutboxError';
  }

  readonly status: number | undefined;
  readonly answer: string | undefined;
  readonly retry_after: number | undefined;

  constructor(code: OutboxErrorCode, message: string, details: OutboxErrorDetails = {}) {
    super(code, message, details);
    this.status = details.status;
    this.answer = details.answer;
    this.retry_after = details.retry_after;
  }
}

/** Characters of an answer that are kept. */
const MOST_TEXT = 10_000;

/**
 * Takes what `send` returned: a `Response` decides by its status, anything else is success. Missing
 * credentials, a server that fails and all that names a time to come back may pass.
 *
 * @throws {OutboxError} `call_failed`, `call_refused`
 */
export async function checkAnswer(answer: unknown, place: string, now: number): Promise<void> {
  const { status, headers, body } = (answer ?? {}) as Partial<Response>;
  if (typeof status !== 'number' || status < 400 || typeof headers?.get !== 'function') return;
  const after = headers.get('retry-after');
  const mayPass = after !== null || [401, 408, 425, 429].includes(status) || status >= 500;
  const text = await beginningOf(body);
  const message = `The server answered "${place}" with status ${status}. ${text}`.trim();
  throw new OutboxError(mayPass ? 'call_failed' : 'call_refused', message, {
    ...{ place, status, answer: text },
    retry_after: readRetryAfter(after, now),
  });
}

/** A body that has no end is not read to its end. */
async function beginningOf(body: Response['body'] | undefined): Promise<string> {
  if (!body || body.locked) return '';
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let text = '';
  try {
    while (text.length < MOST_TEXT) {
      const { done, value } = await reader.read();
      if (done) break;
      text += decoder.decode(value, { stream: true });
    }
    return text.slice(0, MOST_TEXT);
  } catch {
    // The status says enough.
    return text;
  } finally {
    reader.cancel().catch(() => undefined);
  }
}
