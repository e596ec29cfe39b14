import { version as dexieVersion } from 'dexie/package.json';
import { version as idbVersion } from 'idb/package.json';
import { version as lokiVersion } from 'lokijs/package.json';
import type { Peer } from '../../../bench/page/peer.mjs';
import { cairnWorker } from '../../../bench/page/peers/cairn.mjs';
import { dexie } from '../../../bench/page/peers/dexie.mjs';
import { idb } from '../../../bench/page/peers/idb.mjs';
import { loki } from '../../../bench/page/peers/loki.mjs';
import { version as cairnVersion } from '../../../package.json';

/** The compared databases, as in `npm run bench`. Their code loads when they run. */
export interface Contender {
  readonly peer: Peer;
  /** The first words of its title. */
  readonly name: string;
  readonly version: string;
}

const contender = (peer: Peer, version: string): Contender => ({
  peer,
  name: peer.title.replace(/,.*/, ''),
  version,
});

export const CONTENDERS: readonly Contender[] = [
  contender(cairnWorker, cairnVersion),
  contender(dexie, dexieVersion),
  contender(idb, idbVersion),
  contender(loki, lokiVersion),
];

/** The reference for ratios. */
export const OURS = cairnWorker;
