/** Example queries. */
export interface Example {
  readonly name: string;
  readonly text: string;
  readonly sort?: string;
}

export const EXAMPLES: readonly Example[] = [
  {
    name: 'Large cities of Spain',
    text: "{\n  country: 'Spain',\n  population: { $gte: 100_000 },\n}",
    sort: 'population',
  },
  {
    name: 'Capitals of the south',
    text: "{\n  kind: 'PPLC',\n  'location.latitude': { $lt: 0 },\n}",
  },
  { name: 'Names that begin with Saint', text: '{\n  name: /^Saint /,\n}' },
  {
    name: 'Small and Nordic',
    text: "{\n  country: { $in: ['Denmark', 'Finland', 'Iceland', 'Norway', 'Sweden'] },\n  population: { $gt: 0, $lt: 1100 },\n}",
  },
  {
    name: 'Either of two',
    text: "{\n  $or: [\n    { country: 'Portugal', population: { $gt: 100_000 } },\n    { name: 'Reykjavík' },\n  ],\n}",
  },
  {
    name: 'Inhabitants by country',
    text: "[\n  { $match: { population: { $gte: 1e5 } } },\n  { $group: {\n    _id: '$country',\n    inhabitants: { $sum: '$population' },\n    cities: { $count: {} },\n  } },\n  { $sort: { inhabitants: -1 } },\n  { $limit: 12 },\n]",
  },
  {
    name: 'Palindromes, by a function',
    text: "(city) => {\n  const name = city.name.toLowerCase();\n  return name === [...name].reverse().join('');\n}",
  },
];
