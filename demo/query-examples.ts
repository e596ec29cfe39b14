import type { QueryForm } from './query.ts';

interface Example {
  readonly name: string;
  readonly text: string;
}

/** What visitors can try without typing. */
export const EXAMPLES: Record<QueryForm, readonly Example[]> = {
  criteria: [
    { name: 'All', text: '{}' },
    { name: 'Over five million', text: '{ "population": { "$gte": 5000000 } }' },
    {
      name: 'Capitals of the south',
      text: '{ "kind": "PPLC", "location.latitude": { "$lt": 0 } }',
    },
    { name: 'San in Spain', text: '{ "country": "ES", "name": { "$regex": "^San " } }' },
    {
      name: 'Small and Nordic',
      text: '{\n  "country": { "$in": ["IS", "NO", "SE", "FI", "DK"] },\n  "population": { "$gt": 0, "$lt": 1100 }\n}',
    },
  ],
  function: [
    {
      name: 'Palindromes',
      text: "(city) => {\n  const name = city.name.toLowerCase();\n  return name === [...name].reverse().join('');\n}",
    },
    { name: 'On the equator', text: '({ location }) => Math.abs(location.latitude) < 0.05' },
    { name: 'Long names', text: '({ name }) => name.length > 45' },
    {
      name: 'Round numbers',
      text: '({ population }) => population > 0 && population % 100_000 === 0',
    },
  ],
};
