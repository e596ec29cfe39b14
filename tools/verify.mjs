/**
 * npm test: prepares a fresh clone, then runs every check and stops at the first failure.
 * npm test -- lint types: only these steps and those they need.
 */
import { rmSync } from 'node:fs';
import { explainMissing, provisionBrowsers } from './browsers/provision.mjs';
import { run } from './run.mjs';
import { POSTGRES_MISSING, provisionPostgres } from './servers/provision.mjs';
import { installPackages, ROOT } from './setup.mjs';
import { isNight, steps } from './steps.mjs';

const seconds = (/** @type {number} */ start) => ((performance.now() - start) / 1000).toFixed(1);

/** @param {string[]} names */
function choose(names) {
  if (names.length === 0) return steps.filter(({ atNight }) => isNight || !atNight);
  const unknown = names.filter((name) => !steps.some((step) => step.name === name));
  if (unknown.length > 0) {
    throw new Error(
      `No step ${unknown.join(', ')}. There are: ${steps.map(({ name }) => name).join(' ')}`,
    );
  }
  const wanted = new Set(names);
  for (const { name, needs } of [...steps].reverse()) {
    if (wanted.has(name)) for (const need of needs ?? []) wanted.add(need);
  }
  return steps.filter(({ name }) => wanted.has(name));
}

/** @param {typeof steps} chosen */
function prepare(chosen) {
  installPackages();
  if (chosen.some((step) => step.servers) && provisionPostgres() === undefined) {
    throw new Error(POSTGRES_MISSING);
  }
  if (!chosen.some((step) => step.browsers)) return;
  const missing = provisionBrowsers();
  if (missing.length > 0) throw new Error(explainMissing(missing));
}

/** @param {typeof steps[number]} step */
async function perform(step) {
  const start = performance.now();
  /** @type {string[]} */
  const notes = [];
  for (const command of step.commands()) {
    const { ok, output } = await run(command, step.minutes ?? 10);
    if (!ok) {
      console.log(`✗ ${step.name.padEnd(8)} ${seconds(start).padStart(6)} s`);
      console.log(`\n$ ${command.join(' ').replaceAll(ROOT, '')}\n${output}`);
      return false;
    }
    notes.push(...(step.note?.(output) ?? []));
  }
  const note = notes.join(', ');
  console.log(`✓ ${step.name.padEnd(8)} ${seconds(start).padStart(6)} s  ${note || step.shows}`);
  return true;
}

/** @param {typeof steps} chosen those that run beside each other, group by group */
function groupsOf(chosen) {
  /** @type {typeof steps[]} */
  const groups = [];
  for (const step of chosen) {
    const last = groups.at(-1);
    if (step.beside && last && !step.needs?.some((need) => last.some(({ name }) => name === need)))
      last.push(step);
    else groups.push([step]);
  }
  return groups;
}

/**
 * Runs a group: a step begins with the others, or behind the one that it names.
 *
 * @param {typeof steps} group
 * @returns {Promise<boolean[]>} of those that have run, whether they passed
 */
async function performBeside(group) {
  /** @type {Map<string, Promise<boolean | undefined>>} */
  const results = new Map();
  for (const step of group) {
    const before = results.get(step.behind ?? '') ?? Promise.resolve(true);
    results.set(
      step.name,
      before.then((ok) => (ok ? perform(step) : undefined)),
    );
  }
  return (await Promise.all(results.values())).filter((ok) => ok !== undefined);
}

const began = performance.now();
let passed = 0;
let failed = 0;
try {
  const chosen = choose(process.argv.slice(2));
  prepare(chosen);
  for (const group of groupsOf(chosen)) {
    const results = await performBeside(group);
    passed += results.filter((ok) => ok).length;
    failed += results.filter((ok) => !ok).length;
    if (failed > 0) break;
  }
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  failed += 1;
}
rmSync(`${ROOT}test-results`, { recursive: true, force: true });
console.log(`in ${seconds(began)} s`);
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed > 0 ? 1 : 0;
