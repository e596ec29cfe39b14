/** Enough for two parts of what JSON cannot hold. */
export const PARTED = 100;
const NO_BYTES = new Uint8Array(0);

/** How many there are of the tokens that were written together. */
export function countMany(tokens: Iterable<string>): Map<string, number> {
  const counts = new Map<string, number>();
  for (const token of tokens) {
    const [call, one] = token.split('+') as [string, string?];
    if (one) counts.set(call, (counts.get(call) ?? 0) + 1);
  }
  return counts;
}

/** Documents for one `insertMany` or `upsertMany`, in more than one part. */
export function manyOf(token: string): { _id: string; n: number; bytes: Uint8Array }[] {
  return Array.from({ length: PARTED }, (_, n) => ({ _id: `${token}+${n}`, n, bytes: NO_BYTES }));
}

export function twice(tokens: readonly string[]): string {
  return tokens.filter((token, index) => tokens.indexOf(token) !== index).join();
}
