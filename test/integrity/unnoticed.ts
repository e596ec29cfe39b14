import type { Answers, Report } from './mutated-world.ts';

/** Codes that say that something is damaged, or was written by something newer. */
const SAYS_SO = /^error (data_damaged|backup_damaged|format_newer)/;

/** The wrong answers of a damaged database about which nothing was said. */
export function unnoticed({ answers, said, verified }: Report, expected: Answers): string[] {
  const silent: string[] = [];
  const wrong = Object.entries(answers).filter(([call, answer]) => answer !== expected[call]);
  for (const [call, answer] of wrong) {
    if (SAYS_SO.test(answer)) continue;
    // A list without what is damaged, beside an event that names it.
    const isList = call === 'list' || call === 'collections' || call.startsWith('restore');
    if (!isList || said.length === 0) silent.push(`${call} is ${answer.slice(0, 80)}`);
  }
  if (wrong.length > 0 && verified.length === 0) silent.push('verify() finds nothing');
  for (const message of said)
    if (!/things|values|[Ss]egment|manifest|bytes/.test(message)) silent.push(message);
  return silent;
}
