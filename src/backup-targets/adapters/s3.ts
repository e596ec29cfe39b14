import { checkOptions } from '../../api/options/option-checks.ts';
import { toHex } from '../../codec/exact-json/base64.ts';
import type { NamedTarget } from '../backup-target.ts';
import { sha256 } from '../content/sha256.ts';
import {
  type Answer,
  elementsOf,
  folderUrl,
  type HttpTargetOptions,
  httpChecks,
  noList,
  refusal,
  sendHttp,
  textOf,
} from './http-target.ts';

/** Options of {@link s3}. */
export interface S3Options extends HttpTargetOptions, AwsCredentials {
  /**
   * The bucket: `https://s3.eu-central-1.amazonaws.com/bucket`, or
   * `https://bucket.s3.eu-central-1.amazonaws.com`.
   */
  readonly url: string;
  /** The beginning of all keys, such as `backups/ada`. @default none */
  readonly prefix?: string | undefined;
  readonly region: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** Of temporary credentials. */
  readonly sessionToken?: string | undefined;
}

const text = {
  allowed: 'a non-empty string',
  test: (value: unknown) => typeof value === 'string' && value.length > 0,
};

class Bucket {
  readonly #options: S3Options;
  readonly #base: URL;

  constructor(options: S3Options, base: URL) {
    this.#options = options;
    this.#base = base;
  }

  list(query: Readonly<Record<string, string>>): Promise<Answer> {
    const url = new URL(this.#base);
    // Path-style: the bucket without a slash at its end.
    if (url.pathname !== '/') url.pathname = url.pathname.slice(0, -1);
    url.search = Object.entries(query)
      .map(([name, value]) => `${name}=${encoded(value)}`)
      .join('&');
    return this.#send('GET', url, undefined) as Promise<Answer>;
  }

  /** @param missing The code of a 404 that is no error. @returns `undefined` for that. */
  request(
    method: string,
    key: string,
    body: Uint8Array | undefined,
    missing?: string,
  ): Promise<Answer | undefined> {
    const url = new URL(this.#base);
    url.pathname += key.split('/').map(encoded).join('/');
    return this.#send(method, url, body, missing);
  }

  async #send(
    method: string,
    url: URL,
    body: Uint8Array | undefined,
    missing?: string,
  ): Promise<Answer | undefined> {
    const headers = await signedHeaders({ method, url, body }, this.#options, Date.now());
    const answer = await sendHttp(this.#options, url.href, {
      method,
      headers,
      ...(body && { body: body as Uint8Array<ArrayBuffer> }),
    });
    if (answer.status >= 200 && answer.status < 300) return answer;
    if (answer.status === 404 && missing !== undefined && answer.text.includes(missing))
      return undefined;
    // Without the query: it says nothing.
    throw refusal(answer, url.origin + url.pathname);
  }
}

/**
 * A bucket of S3, or of a service with its interface: Cloudflare R2, Backblaze B2, MinIO, Garage,
 * Ceph … Its CORS rules must allow the page's origin, the methods GET, PUT and DELETE, and all
 * headers.
 *
 * @throws {OptionError} with the invalid option.
 */
export function s3(options: S3Options): NamedTarget {
  const given = checkOptions(
    options,
    {
      ...httpChecks,
      region: { ...text, required: true },
      accessKeyId: { ...text, required: true },
      secretAccessKey: { ...text, required: true },
      sessionToken: text,
      prefix: text,
    },
    's3(options)',
  ) as unknown as S3Options;
  const base = folderUrl(given.url);
  const root = given.prefix === undefined ? '' : `${given.prefix.replaceAll(/^\/+|\/+$/g, '')}/`;
  const bucket = new Bucket(given, base);
  return {
    id: `s3:${base.href}${root}`,

    async put(path, bytes) {
      await bucket.request('PUT', root + path, bytes);
    },

    async get(path) {
      const answer = await bucket.request('GET', root + path, undefined, 'NoSuchKey');
      return answer?.bytes;
    },

    async list(prefix) {
      const paths: string[] = [];
      let token: string | undefined;
      do {
        const query = { 'list-type': '2', prefix: root + prefix };
        const { text: xml } = await bucket.list(
          token ? { ...query, 'continuation-token': token } : query,
        );
        if (!xml.includes('<ListBucketResult')) throw noList(base.href);
        for (const key of elementsOf(xml, 'Key')) paths.push(textOf(key).slice(root.length));
        const [isTruncated] = elementsOf(xml, 'IsTruncated');
        const [next] = elementsOf(xml, 'NextContinuationToken');
        // The rest would seem to be missing.
        if (isTruncated === 'true' && next === undefined) throw noList(base.href);
        token = isTruncated === 'true' ? textOf(next as string) : undefined;
      } while (token !== undefined);
      return paths;
    },

    async delete(path) {
      await bucket.request('DELETE', root + path, undefined, 'NoSuchKey');
    },
  };
}

/** The credentials of a request. */
interface AwsCredentials {
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

const canonicalSegment = (segment: string): string => encoded(decodeURIComponent(segment));

/**
 * The headers of a request to S3, signed:
 * https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html. `host` is signed,
 * and left to `fetch`.
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

/** Percent-encodes all but the unreserved characters of RFC 3986. */
function encoded(text: string): string {
  return encodeURIComponent(text).replaceAll(
    /[!'()*]/g,
    (letter) => `%${letter.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
