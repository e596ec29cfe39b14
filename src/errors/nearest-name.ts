/**
 * Most edits per letter: with more than one in three it is another word. Compilers use the same
 * limit.
 */
const TOO_FAR = 0.34;

/** The known name with the fewest edits per letter; `undefined` if none is near. */
export function nearestName(name: string, names: readonly string[]): string | undefined {
  // The time of the distance is quadratic.
  const start = name.slice(0, 40);
  let best: string | undefined;
  let least = TOO_FAR;
  for (const candidate of names) {
    const distance = editDistance(start, candidate) / Math.max(start.length, candidate.length);
    if (distance < least) {
      least = distance;
      best = candidate;
    }
  }
  return best;
}

/** The Levenshtein distance, row by row. */
function editDistance(a: string, b: string): number {
  let above = [0, ...b].map((_, column) => column);
  for (const letter of a) {
    let left = (above[0] as number) + 1;
    above = above.map((up, column) => {
      if (column === 0) return left;
      const substitution = (above[column - 1] as number) + (letter === b[column - 1] ? 0 : 1);
      left = Math.min(substitution, up + 1, left + 1);
      return left;
    });
  }
  return above.at(-1) as number;
}
