import { OptionError } from '../errors/errors.ts';

/** Which pages of other origins may use a handler. */
export interface CorsOptions {
  /** Such as `['https://app.example.com']`; `'*'`: all of them. */
  readonly origins: readonly string[] | '*';
  /** Request headers besides `content-type` and `authorization`. */
  readonly headers?: readonly string[];
  /** Whether cookies are sent; then `origins` is a list. */
  readonly credentials?: boolean;
}

/** @throws {OptionError} */
export function checkCors({ origins, credentials }: CorsOptions): void {
  if (origins !== '*' && !Array.isArray(origins)) {
    throw new OptionError('option_invalid', "cors.origins must be a list of origins or '*'.", {
      place: 'cors.origins',
    });
  }
  if (origins === '*' && credentials) {
    throw new OptionError(
      'option_conflict',
      "cors.credentials needs a list of origins: with '*' every page could act as your users.",
      { place: 'cors.credentials' },
    );
  }
}

export function corsHeaders(request: Request, cors: CorsOptions): Record<string, string> {
  const origin = request.headers.get('origin');
  const { origins, credentials } = cors;
  const vary = origins === '*' ? {} : { vary: 'Origin' };
  if (origin === null || (origins !== '*' && !origins.includes(origin))) return vary;
  return {
    ...vary,
    'access-control-allow-origin': origins === '*' ? '*' : origin,
    'access-control-expose-headers': 'Retry-After',
    ...(credentials && { 'access-control-allow-credentials': 'true' }),
  };
}

/** The answer to a preflight, besides {@link corsHeaders}. */
export function preflight({ headers = [] }: CorsOptions, takesFiles: boolean): Response {
  return new Response(null, {
    status: 204,
    headers: {
      'access-control-allow-methods': `GET, POST${takesFiles ? ', PUT' : ''}`,
      'access-control-allow-headers': ['content-type', 'authorization', ...headers].join(', '),
      'access-control-max-age': '600',
    },
  });
}
