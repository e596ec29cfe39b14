import type { Contender } from '../contender.ts';
import { cairn } from './cairn.ts';
import { dexie } from './dexie.ts';
import { idb } from './idb.ts';
import { loki } from './loki.ts';

export const CONTENDERS: readonly Contender[] = [cairn, dexie, idb, loki];
