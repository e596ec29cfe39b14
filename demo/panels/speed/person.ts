import { seededRandom } from '../../sources/random.ts';

/** What every contender keeps: about 300 bytes as JSON. */
export interface Person {
  readonly id: string;
  readonly name: string;
  readonly email: string;
  readonly age: number;
  /** Indexed; 100 people share one. */
  readonly group: number;
  /** Indexed; no two share one. */
  readonly score: number;
  /** Not indexed. */
  readonly address: { readonly city: string; readonly street: string; readonly zip: number };
  readonly tags: readonly string[];
  readonly bio: string;
}

export const GROUP_SIZE = 100;
/** Zips are below this, evenly spread. */
export const ZIPS = 100_000;

const WORDS = 'river stone letter garden window copper signal harbour winter paper'.split(' ');

/** People in no order of group or score, the same each time. */
export function makePeople(count: number): Person[] {
  const random = seededRandom(count);
  const upTo = (limit: number) => Math.floor(random() * limit);
  const word = () => WORDS[upTo(WORDS.length)] as string;
  const groups = Math.ceil(count / GROUP_SIZE);
  // A step that shares no factor with the count goes once through all of it.
  const step = 7919;
  return Array.from({ length: count }, (_, index) => ({
    id: `person_${index}`,
    name: `${word()} ${word()}`,
    email: `${word()}.${index}@example.com`,
    age: upTo(90),
    group: index % groups,
    score: (index * step) % count,
    address: { city: word(), street: `${word()} street ${upTo(200)}`, zip: upTo(ZIPS) },
    tags: [word(), word()],
    bio: Array.from({ length: 12 }, word).join(' '),
  }));
}
