import { settleFor } from './measure.mjs';
import { Session } from './session.mjs';
import { workloads } from './workloads.mjs';

const SETTLING_MS = 50;

/**
 * Runs one workload against one peer.
 *
 * @param {string} name of the workload
 * @param {import('./session.mjs').Given} given
 * @returns {Promise<{ figures: Record<string, number> | undefined, changes:
 *   import('./model.mjs').Change[] }>} the figures by metric, or nothing where the peer has no way
 *   to do it; and what was changed
 */
export async function perform(name, given) {
  const workload = workloads.find((each) => each.name === name);
  if (!workload) throw new Error(`There is no workload ${name}.`);
  settleFor(given.hasty ? 0 : SETTLING_MS);
  const session = await Session.begin(given);
  const all = await workload.run(session);
  await session.end();
  for (const [metric, value] of Object.entries(all ?? {})) {
    if (!(value >= 0 && Number.isFinite(value))) throw new Error(`${metric} is ${value}.`);
  }
  const figures =
    all && Object.entries(all).filter(([metric]) => isOf(given.peer, workload, metric));
  return { figures: figures && Object.fromEntries(figures), changes: session.changes };
}

/**
 * Whether a figure means something for a peer.
 *
 * @param {import('./peer.mjs').Peer} peer
 * @param {import('./workload.mjs').Workload} workload
 * @param {string} metric
 */
const isOf = (peer, { metrics }, metric) => peer.keeps || !metrics[metric]?.durable;

/**
 * Uses another database a little: by then all is loaded that opening and asking takes. @param
 * {import('./session.mjs').Given} given
 */
export async function rehearse(given) {
  const session = await Session.begin(given);
  const store = await session.openOther('rehearsal');
  await store.insertMany(session.newDocuments(1, 1));
  await store.findGroup?.(0);
  await store.saved?.();
  await store.close();
  await session.end();
}

/** Fills the database, unmeasured. @param {import('./session.mjs').Given} given */
export async function fill(given) {
  const session = await Session.begin(given);
  const store = await session.open();
  await store.insertMany(session.firstDocuments());
  await store.saved?.();
  await session.end();
}

/** Compares every document with the model. @param {import('./session.mjs').Given} given */
export async function verify(given) {
  const session = await Session.begin(given);
  const store = await session.openFilled();
  if (store.all) {
    session.check('in the end', await store.all(), [...session.model.documents.values()]);
  }
  await session.end();
}
