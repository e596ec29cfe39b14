import { clientsClaim } from 'workbox-core';
import { cleanupOutdatedCaches, type PrecacheEntry, precacheAndRoute } from 'workbox-precaching';

/** Every file of the page, which the build puts in (tools/build/service-worker.ts). */
declare const __FILES__: PrecacheEntry[];

// A newer version waits until no tab has the old one open: its files stay for as long as they are needed.
clientsClaim();
cleanupOutdatedCaches();
precacheAndRoute(__FILES__);
