import { expect, test } from 'vitest';
import { CHALLENGE, PROOF } from '../../src/storage/drivers/encryption-key.ts';
import { deriveKeys } from '../../src/storage/encryption/data-keys.ts';
import { admission, keyProof } from '../../src/storage/encryption/encryption-module.ts';
import type { Bytes } from '../../src/storage/encryption/sealing.ts';

type Message = { readonly [CHALLENGE]?: Bytes; readonly [PROOF]?: unknown } | undefined;

const proofsOf = async (fill: number) => (await deriveKeys(new Uint8Array(32).fill(fill))).proofs;

const PLACE = ['term 1', 'client 1', 'channel 1'];

/** A leader's end of a channel: what it says, and what it hears. */
function channelEnd() {
  const listeners = new Set<(event: Event) => void>();
  const said: Message[] = [];
  return {
    said,
    postMessage: (message: unknown) => void said.push(message as Message),
    addEventListener: (_: string, listener: (event: Event) => void) => void listeners.add(listener),
    removeEventListener: (_: string, listener: (event: Event) => void) =>
      void listeners.delete(listener),
    hear: async (data: unknown) => {
      for (const listener of [...listeners])
        await (listener as (event: unknown) => unknown)({ data });
    },
  };
}

/** Has a client answer the challenge of a leader. */
async function answerWith(answer: (challenge: Bytes, proofs: CryptoKey) => unknown, place = PLACE) {
  const proofs = await proofsOf(1);
  const channel = channelEnd();
  let served = 0;
  admission(proofs, 'notes')(channel, place, () => served++);
  const challenge = channel.said[0]?.[CHALLENGE] as Bytes;
  await channel.hear({ [PROOF]: await answer(challenge, proofs) });
  return { served, channel, challenge };
}

const isRefused = { [PROOF]: false };

test('who has the key is served, once, and hears nothing before', async () => {
  const { served, channel } = await answerWith((challenge, proofs) =>
    keyProof(proofs, 'notes', PLACE, challenge),
  );
  expect([served, channel.said.length]).toEqual([1, 1]);
});

test('a proof by another key, of another place or for another challenge is refused', async () => {
  const others: ((challenge: Bytes, proofs: CryptoKey) => unknown)[] = [
    async (challenge) => keyProof(await proofsOf(2), 'notes', PLACE, challenge),
    (challenge, proofs) => keyProof(proofs, 'other', PLACE, challenge),
    (challenge, proofs) => keyProof(proofs, 'notes', ['term 2', ...PLACE.slice(1)], challenge),
    (challenge, proofs) =>
      keyProof(proofs, 'notes', ['term 1', 'client 2', 'channel 1'], challenge),
    (challenge, proofs) =>
      keyProof(proofs, 'notes', ['term 1', 'client 1', 'channel 2'], challenge),
    (_, proofs) => keyProof(proofs, 'notes', PLACE, new Uint8Array(32)),
    (challenge) => challenge,
    ...[true, 'proof', [1, 2], {}, new Uint8Array(0), new Uint8Array(32)].map((one) => () => one),
  ];
  for (const other of others) {
    const { served, channel } = await answerWith(other);
    expect([served, channel.said.at(-1)]).toEqual([0, isRefused]);
  }
});

test('a proof that was heard does not serve again, on the same channel neither', async () => {
  let heard: Bytes | undefined;
  await answerWith(async (challenge, proofs) => {
    heard = await keyProof(proofs, 'notes', PLACE, challenge);
    return heard;
  });
  const { served, channel, challenge } = await answerWith(() => heard);
  expect([served, channel.said.at(-1)]).toEqual([0, isRefused]);
  // There is one attempt for a challenge.
  await channel.hear({ [PROOF]: await keyProof(await proofsOf(1), 'notes', PLACE, challenge) });
  expect(channel.said.length).toBe(2);
});

test('foreign messages move no leader', async () => {
  const channel = channelEnd();
  let served = 0;
  admission(await proofsOf(1), 'notes')(channel, PLACE, () => served++);
  for (const word of [undefined, null, 0, 'cairn:ready', [], {}, { [PROOF]: undefined }])
    await channel.hear(word);
  expect([served, channel.said.length]).toEqual([0, 1]);
});
