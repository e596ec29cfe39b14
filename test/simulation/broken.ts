import { expect, onTestFinished, test, vi } from 'vitest';
import { firstFailure } from './run-seeds.ts';

/**
 * Tests that a simulation finds what is broken, within so many seeds.
 *
 * @returns declares a test: its name, what breaks something, and another simulation.
 */
export function findsBroken(simulate: Parameters<typeof firstFailure>[0], seeds = 300) {
  return (name: string, breakIt: () => unknown, other = simulate): void => {
    test(name, { timeout: 600_000 }, async () => {
      breakIt();
      const seed = await firstFailure(other, { seeds });
      if (process.env.TRACE) console.log(name, seed);
      expect(seed).toBeDefined();
    });
  };
}

/** Lets a method do something else until the test ends; it gets the original, of its object. */
export function change<T extends object, Name extends keyof T>(
  prototype: T,
  name: Name,
  changed: T[Name] extends (...args: infer Args) => infer Result
    ? (this: T, original: (...args: Args) => Result, ...args: Args) => Result
    : never,
): void {
  onTestFinished(() => void vi.restoreAllMocks());
  const original = prototype[name] as (...args: unknown[]) => unknown;
  vi.spyOn(prototype, name as never).mockImplementation(function (
    this: unknown,
    ...args: unknown[]
  ) {
    return (changed as (...given: unknown[]) => unknown).call(this, original.bind(this), ...args);
  } as never);
}
