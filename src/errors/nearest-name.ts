/** Edits for each letter: more than one for three is another word, and no slip. Compilers draw the line there too. */
const TOO_FAR = 0.34;

/** The name that takes the fewest edits to get to from `name`, by its length; `undefined` where none is near. */
export function nearestName(name: string, names: readonly string[]): string | undefined {
  // Nothing is near a very long name, and the distance takes time with the square of it.
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

/** Levenshtein's, row by row. */
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
