import { toHex } from '../../codec/hex.ts';
import { sha256 } from '../content/sha256.ts';

/** The credentials of a request. */
export interface AwsCredentials {
  readonly region: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string | undefined;
}

/** A request to sign. */
export interface UnsignedRequest {
  readonly method: string;
  readonly url: URL;
  /** Besides `host`, which every request has. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array | undefined;
}

const ALGORITHM = 'AWS4-HMAC-SHA256';

const encoder = new TextEncoder();

/**
 * The headers of a request to S3, signed: https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html.
 * `host` is signed, and left to `fetch`.
 *
 * @param at Unix time in milliseconds: servers refuse requests of more than 15 minutes ago.
 */
export async function signedHeaders(
  { method, url, headers = {}, body = new Uint8Array() }: UnsignedRequest,
  { region, accessKeyId, secretAccessKey, sessionToken }: AwsCredentials,
  at: number,
): Promise<Record<string, string>> {
  const time = new Date(at).toISOString().replaceAll(/[-:]|\.\d+/g, '');
  const date = time.slice(0, 8);
  const hash = await sha256(body);
  const sent: Record<string, string> = {
    ...headers,
    'x-amz-content-sha256': hash,
    'x-amz-date': time,
    ...(sessionToken && { 'x-amz-security-token': sessionToken }),
  };
  const signed: [string, string][] = Object.entries({ ...sent, host: url.host }).map(
    ([name, value]) => [name.toLowerCase(), value.trim().replaceAll(/ +/g, ' ')],
  );
  signed.sort(([a], [b]) => (a < b ? -1 : 1));
  const names = signed.map(([name]) => name).join(';');
  const canonical = [
    method,
    url.pathname.split('/').map(canonicalSegment).join('/'),
    canonicalQuery(url.searchParams),
    ...signed.map(([name, value]) => `${name}:${value}`),
    '',
    names,
    hash,
  ].join('\n');
  const scope = `${date}/${region}/s3/aws4_request`;
  const text = [ALGORITHM, time, scope, await sha256(canonical)].join('\n');
  let key: Uint8Array = encoder.encode(`AWS4${secretAccessKey}`);
  for (const part of scope.split('/')) key = await hmac(key, part);
  const signature = toHex(await hmac(key, text));
  const authorization = `${ALGORITHM} Credential=${accessKeyId}/${scope},SignedHeaders=${names},Signature=${signature}`;
  return { ...sent, authorization };
}

async function hmac(key: Uint8Array, text: string): Promise<Uint8Array<ArrayBuffer>> {
  const { subtle } = crypto;
  const algorithm = { name: 'HMAC', hash: 'SHA-256' };
  const given = key as Uint8Array<ArrayBuffer>;
  const imported = await subtle.importKey('raw', given, algorithm, false, ['sign']);
  return new Uint8Array(await subtle.sign('HMAC', imported, encoder.encode(text)));
}

function canonicalQuery(query: URLSearchParams): string {
  const pairs = Array.from(query, ([name, value]) => `${encoded(name)}=${encoded(value)}`);
  return pairs.sort().join('&');
}

const canonicalSegment = (segment: string): string => encoded(decodeURIComponent(segment));

/** Percent-encodes all but the unreserved characters of RFC 3986. */
export function encoded(text: string): string {
  return encodeURIComponent(text).replaceAll(
    /[!'()*]/g,
    (letter) => `%${letter.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
