/**
 * node test/backup-targets/servers/s3-server.mjs FOLDER [PORT]: the part of S3 that backups use,
 * over a folder. It prints its port. No server for tests that npm has was maintained when this was
 * written (docs/decisions/044-backup-targets.md).
 *
 * It checks each signature with a derivation of its own, from what arrived on the wire.
 * `--full BYTES`: the room of the bucket. `--page KEYS`: keys in an answer to a list.
 */
import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import {
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:http';
import { dirname, join } from 'node:path';

const [folder = '.', port = '0', ...options] = process.argv.slice(2);
const option = (/** @type {string} */ name, /** @type {number} */ fallback) => {
  const at = options.indexOf(name);
  return at < 0 ? fallback : Number(options[at + 1]);
};
const room = option('--full', Number.POSITIVE_INFINITY);
const page = option('--page', 1000);

const BUCKET = 'bucket';
const REGION = 'eu-central-1';
const KEY_ID = 'test-key';
const SECRET = 'test/secret+key';

/** @param {string | Buffer} data */
const hash = (data) => createHash('sha256').update(data).digest('hex');
/** @param {string | Buffer} key @param {string} data */
const hmac = (key, data) => createHmac('sha256', key).update(data).digest();

/**
 * The code of the error of a request, if it is not signed as it should be. @param
 * {import('node:http').IncomingMessage} request @param {Buffer} body
 */
function refusalOf(request, body) {
  const {
    authorization = '',
    'x-amz-date': time = '',
    'x-amz-content-sha256': sent,
  } = request.headers;
  const pattern =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/s3\/aws4_request,\s*SignedHeaders=([^,]+),\s*Signature=([0-9a-f]{64})$/;
  const [, id, date = '', region, names = '', signature = ''] = pattern.exec(authorization) ?? [];
  if (!signature) return 'AccessDenied';
  if (id !== KEY_ID) return 'InvalidAccessKeyId';
  if (region !== REGION) return 'AuthorizationHeaderMalformed';
  if (sent !== hash(body)) return 'XAmzContentSHA256Mismatch';
  const [year, month, day, hour, minute, second] =
    String(time)
      .match(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/)
      ?.slice(1)
      .map(Number) ?? [];
  const skew = Date.now() - Date.UTC(year ?? 0, (month ?? 1) - 1, day, hour, minute, second);
  if (!(Math.abs(skew) < 15 * 60_000)) return 'RequestTimeTooSkewed';
  const signed = names.split(';');
  if (!['host', 'x-amz-date', 'x-amz-content-sha256'].every((name) => signed.includes(name)))
    return 'AccessDenied';
  const [path = '', query = ''] = (request.url ?? '').split('?');
  const canonical = [
    request.method,
    path,
    query.split('&').filter(Boolean).sort().join('&'),
    ...signed.map((name) => `${name}:${String(request.headers[name]).trim()}`),
    '',
    names,
    sent,
  ].join('\n');
  const text = [
    'AWS4-HMAC-SHA256',
    time,
    `${date}/${region}/s3/aws4_request`,
    hash(canonical),
  ].join('\n');
  const key = ['s3', 'aws4_request'].reduce(hmac, hmac(hmac(`AWS4${SECRET}`, date), REGION));
  const expected = hmac(key, text);
  return timingSafeEqual(expected, Buffer.from(signature, 'hex'))
    ? undefined
    : 'SignatureDoesNotMatch';
}

/** @param {string} path @returns {string[]} */
const keysIn = (path) =>
  readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.name.startsWith('.'))
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .sort();

const used = () => keysIn(folder).reduce((sum, key) => sum + statSync(join(folder, key)).size, 0);
const xml = (/** @type {string} */ text) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');

/** @param {URLSearchParams} query */
function list(query) {
  const after = query.get('continuation-token') ?? '';
  const all = keysIn(folder).filter(
    (key) => key.startsWith(query.get('prefix') ?? '') && key > after,
  );
  const keys = all.slice(0, page);
  const more = all.length > keys.length;
  const contents = keys
    .map((key) => `<Contents><Key>${xml(key)}</Key><Size>1</Size></Contents>`)
    .join('');
  const next = more
    ? `<NextContinuationToken>${xml(keys.at(-1) ?? '')}</NextContinuationToken>`
    : '';
  return `<?xml version="1.0" encoding="UTF-8"?><ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><IsTruncated>${more}</IsTruncated>${contents}${next}</ListBucketResult>`;
}

let writes = 0;

const server = createServer(async (request, response) => {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  const body = Buffer.concat(chunks);
  const answer = (/** @type {number} */ status, /** @type {string | Buffer} */ content = '') => {
    response.writeHead(status, { 'content-type': 'application/xml' }).end(content);
  };
  const fail = (/** @type {number} */ status, /** @type {string} */ code) =>
    answer(status, `<?xml version="1.0"?><Error><Code>${code}</Code></Error>`);
  const refusal = refusalOf(request, body);
  if (refusal) return fail(403, refusal);
  const url = new URL(request.url ?? '', 'http://localhost');
  const [, bucket, ...rest] = decodeURIComponent(url.pathname).split('/');
  if (bucket !== BUCKET) return fail(404, 'NoSuchBucket');
  const key = rest.join('/');
  const file = join(folder, key);
  if (key === '') return answer(200, list(url.searchParams));
  if (request.method === 'PUT') {
    if (used() + body.length > room) return fail(507, 'XMinioStorageFull');
    mkdirSync(dirname(file), { recursive: true });
    const temporary = join(folder, `.upload-${writes++}`);
    writeFileSync(temporary, body);
    renameSync(temporary, file);
    return answer(200);
  }
  if (request.method === 'DELETE') {
    rmSync(file, { force: true });
    return answer(204);
  }
  try {
    answer(200, readFileSync(file));
  } catch {
    fail(404, 'NoSuchKey');
  }
});

// A busy machine reuses a connection in the moment in which it would be closed for being idle.
server.keepAliveTimeout = 600_000;
server.listen(Number(port), '127.0.0.1', () => {
  const address = /** @type {import('node:net').AddressInfo} */ (server.address());
  console.log(address.port);
});
