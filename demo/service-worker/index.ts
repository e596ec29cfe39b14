import { clientsClaim } from 'workbox-core';
import { cleanupOutdatedCaches, type PrecacheEntry, precacheAndRoute } from 'workbox-precaching';

/** Every file of the page, injected by the build (tools/build/service-worker.ts). */
declare const __FILES__: PrecacheEntry[];

// A new version activates once no tab uses the old one, whose files stay until then.
clientsClaim();
cleanupOutdatedCaches();
precacheAndRoute(__FILES__);
