import { expect } from 'vitest';
import type { Handler } from '../../src/server/index.ts';

export const URL_OF = (collection: string, call: string): string =>
  `https://example.com/sync/${encodeURIComponent(collection)}/${call}`;

/** A request as a page sends it. */
export function request(url: string, body: unknown, init: RequestInit = {}): Request {
  return new Request(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: typeof body === 'string' ? body : JSON.stringify(body),
    ...init,
  });
}

/** The answer to a call on a collection, which must succeed. */
export async function ask(
  handler: Handler,
  collection: string,
  call: string,
  body: unknown,
): Promise<any> {
  const response = await handler(request(URL_OF(collection, call), body));
  const answer: unknown = await response.json();
  expect(answer).not.toHaveProperty('error');
  expect(response.status).toBe(200);
  return answer;
}

/** Status and code of a refused request, whose body is a message for people and nothing else. */
export async function refusal(handler: Handler, asked: Request): Promise<[number, string]> {
  const response = await handler(asked);
  const { error } = (await response.json()) as { error: { code: string; message: string } };
  expect(Object.keys(error)).toEqual(['code', 'message']);
  expect(error.message).toMatch(/^[A-Z].*\.$/);
  expect(response.headers.get('content-type')).toBe('application/json');
  return [response.status, error.code];
}

/** A row as it is sent. */
export function wire(id: string, fields: object | undefined, given: object = {}): object {
  const content = fields ? { document: { _id: id, ...fields } } : { deleted: true };
  keys += 1;
  return { id, base: null, key: `r.${keys}`, ...content, ...given };
}

let keys = 0;
