// What loads on demand is loaded before the first test: reading a module takes real time, and the
// simulated clock goes on meanwhile.
const modules = import.meta.glob<unknown>([
  '../../src/{page,engine,storage}/**/*.ts',
  '../../src/query/expressions/part.ts',
  '!**/worker/*.ts',
]);

await Promise.all(Object.values(modules).map((load) => load()));
