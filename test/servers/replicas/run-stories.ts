import { expect, inject } from 'vitest';
import { Random } from '../../setup/random.ts';
import type { Failure, RealServer } from './real-server.ts';
import { ReplicaStory } from './replica-story.ts';

/** A server takes its time to start: what it costs, several stories share. */
const AT_ONCE = 4;
/** `STORIES=800` runs more, `SEED=…` begins elsewhere, `TRACE=1` tells what happens. */
const COUNT = Number(process.env.STORIES ?? 4 * inject('effort') ** 2);

/** The seeds of stories that run at once. */
export const GROUPS: readonly (readonly number[])[] = Array.from(
  { length: Math.ceil(COUNT / AT_ONCE) },
  (_, group) => Array.from({ length: AT_ONCE }, (_, at) => inject('seed') + group * AT_ONCE + at),
);

/** How a server fails for stories with these seeds: once or twice. */
export function failuresOf([seed = 0]: readonly number[]): Failure[] {
  const random = new Random(seed);
  return [1, 2].map(() => ({
    moment: random.pick(['before', 'during', 'after']),
    after: random.below(5),
  }));
}

/** Does the same with all stories at once. */
export function together<T>(
  stories: readonly ReplicaStory[],
  act: (story: ReplicaStory) => Promise<T>,
): Promise<T[]> {
  return Promise.all(stories.map(act));
}

/**
 * Runs stories in which `happen` takes place, and expects that all is well at their end.
 *
 * @param name Of the stories: their collections are their own.
 */
export async function runTogether(
  server: RealServer,
  name: string,
  seeds: readonly number[],
  happen: (stories: readonly ReplicaStory[]) => Promise<unknown>,
): Promise<void> {
  const stories = seeds.map((seed) => new ReplicaStory(server, name, seed));
  try {
    await together(stories, (story) => story.begin());
    await happen(stories);
    await server.recovered();
    const problems = await together(stories, (story) => story.end());
    const found = problems.flatMap((lines, index) =>
      lines.map((line) => `seed ${seeds[index]}: ${line}`),
    );
    expect(found, found.join('\n')).toEqual([]);
  } finally {
    await together(stories, (story) => story.close());
  }
}
