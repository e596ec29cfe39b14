/** An id of so many characters, for engines whose ids do not matter. */
export function randomId(length: number): string {
  return Math.random().toString(36).padEnd(length, '_').slice(0, length);
}
