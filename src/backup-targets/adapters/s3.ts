import { checkOptions } from '../../collection/options/option-checks.ts';
import type { NamedTarget } from '../backup-target.ts';
import { type AwsCredentials, encoded, signedHeaders } from './aws-signature.ts';
import {
  type Answer,
  folderUrl,
  type HttpOptions,
  httpChecks,
  noList,
  refusal,
  request,
} from './http-target.ts';
import { elementsOf, textOf } from './xml-text.ts';

/** Options of {@link s3}. */
export interface S3Options extends HttpOptions, AwsCredentials {
  /** The bucket: `https://s3.eu-central-1.amazonaws.com/bucket`, or `https://bucket.s3.eu-central-1.amazonaws.com`. */
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

/**
 * A bucket of S3, or of a service with its interface: Cloudflare R2, Backblaze B2, MinIO, Garage, Ceph … Its CORS rules
 * must allow the page's origin, the methods GET, PUT and DELETE, and all headers.
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

/** Signed requests to a bucket. */
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
    const answer = await request(this.#options, url.href, {
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
