/** The name that takes the fewest edits to get to from `name`. */
export function nearestName(name: string, names: readonly string[]): string {
  // Nothing sensible is near a very long name, and the distance takes time with the square of it.
  const start = name.slice(0, 40);
  let best = '';
  let least = Number.POSITIVE_INFINITY;
  for (const candidate of names) {
    const distance = editDistance(start, candidate);
    if (distance < least) {
      least = distance;
      best = candidate;
    }
  }
  return best;
}

function editDistance(a: string, b: string): number {
  let above = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row++) {
    const current = [row];
    for (let column = 1; column <= b.length; column++) {
      const substitution = (above[column - 1] as number) + (a[row - 1] === b[column - 1] ? 0 : 1);
      const deletion = (above[column] as number) + 1;
      const insertion = (current[column - 1] as number) + 1;
      current.push(Math.min(substitution, deletion, insertion));
    }
    above = current;
  }
  return above[b.length] as number;
}
