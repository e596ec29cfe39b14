import { expect, test } from 'vitest';
import { signedHeaders, type UnsignedRequest } from '../../src/backup-targets/adapters/s3.ts';

/** The examples of https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html */
const credentials = {
  region: 'us-east-1',
  accessKeyId: 'AKIAIOSFODNN7EXAMPLE',
  secretAccessKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
};
const AT = Date.UTC(2013, 4, 24);
const BUCKET = 'https://examplebucket.s3.amazonaws.com';

test.each<[string, UnsignedRequest, string, string]>([
  [
    'GET Object',
    { method: 'GET', url: new URL(`${BUCKET}/test.txt`), headers: { range: 'bytes=0-9' } },
    'host;range;x-amz-content-sha256;x-amz-date',
    'f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41',
  ],
  [
    'PUT Object',
    {
      method: 'PUT',
      url: new URL(`${BUCKET}/test%24file.text`),
      headers: {
        date: 'Fri, 24 May 2013 00:00:00 GMT',
        'x-amz-storage-class': 'REDUCED_REDUNDANCY',
      },
      body: new TextEncoder().encode('Welcome to Amazon S3.'),
    },
    'date;host;x-amz-content-sha256;x-amz-date;x-amz-storage-class',
    '98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd',
  ],
  [
    'GET Bucket Lifecycle',
    { method: 'GET', url: new URL(`${BUCKET}/?lifecycle`) },
    'host;x-amz-content-sha256;x-amz-date',
    'fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543',
  ],
  [
    'GET Bucket (List Objects)',
    { method: 'GET', url: new URL(`${BUCKET}/?max-keys=2&prefix=J`) },
    'host;x-amz-content-sha256;x-amz-date',
    '34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7',
  ],
])('signs as AWS publishes: %s', async (_, request, names, signature) => {
  const { authorization } = await signedHeaders(request, credentials, AT);
  expect(authorization).toBe(
    `AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request,SignedHeaders=${names},Signature=${signature}`,
  );
});

test('a session token is sent and signed', async () => {
  const signed = await signedHeaders(
    { method: 'GET', url: new URL(`${BUCKET}/a`) },
    { ...credentials, sessionToken: 'token' },
    AT,
  );
  expect(signed['x-amz-security-token']).toBe('token');
  expect(signed.authorization).toContain('x-amz-security-token,Signature=');
});
