import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { makeFolder, removeFolder } from '../../tools/browsers/child.mjs';
import { launchFirefox } from '../../tools/browsers/firefox.mjs';
import { launchUntouchedChromium } from '../../tools/browsers/untouched-chromium.mjs';
import { launchWebKit } from '../../tools/browsers/webkit.mjs';
import { runs } from '../e2e/open-playground.ts';
import { serveFolder } from '../package/static-server.ts';
import type { FrameReport } from './page/frame.ts';

const CLIENTS = ['connect', 'Database'] as const;

/** Where pages are: by themselves, in a frame of another site, in a frame without an origin. */
type Place = 'page' | 'third-party frame' | 'sandbox';

interface Setting {
  readonly browser: 'chromium' | 'firefox' | 'webkit';
  /** What of the storage the user has blocked, with cookies. */
  readonly blocked: 'nothing' | 'third parties' | 'all';
  /** Where data is stored; elsewhere it is in memory. */
  readonly stored: readonly Place[];
}

const SETTINGS: readonly Setting[] = [
  { browser: 'chromium', blocked: 'nothing', stored: ['page', 'third-party frame'] },
  { browser: 'chromium', blocked: 'third parties', stored: ['page'] },
  { browser: 'chromium', blocked: 'all', stored: [] },
  { browser: 'firefox', blocked: 'nothing', stored: ['page', 'third-party frame'] },
  { browser: 'firefox', blocked: 'all', stored: [] },
  { browser: 'webkit', blocked: 'nothing', stored: ['page', 'third-party frame'] },
  { browser: 'webkit', blocked: 'all', stored: [] },
];

/** Serves pages that report what they could do. */
async function serveReports() {
  const awaited = new Map<string, (report: FrameReport) => void>();
  const hold = async (path: string) => {
    const [, kind, door, ...said] = path.split('/');
    if (kind === 'report') awaited.get(`${door}`)?.(JSON.parse(decodeURIComponent(said.join('/'))));
  };
  // A frame without an origin loads modules as from another site.
  const headers = { 'access-control-allow-origin': '*' };
  const instead: Record<string, { readonly body: string }> = {};
  const site = await serveFolder(inject('tabPage'), { hold, headers, instead });
  let names = 0;
  return {
    url: site.url,
    close: site.close,
    /** A page at `place`, and its report. */
    page(place: Place, door: string) {
      const name = ++names;
      const inner = `${site.url}#frame/${door}/${name}`;
      const sandbox = place === 'sandbox' ? 'sandbox="allow-scripts"' : '';
      instead[`/host-${name}`] = { body: `<!doctype html><iframe ${sandbox} src="${inner}">` };
      const host = new URL(`/host-${name}`, site.url);
      if (place === 'third-party frame') host.hostname = 'localhost';
      const report = new Promise<FrameReport>((resolve) => awaited.set(door, resolve));
      return { url: place === 'page' ? inner : host.href, report };
    },
  };
}

/** MiniBrowser's policy of cookies alone leaves storage alone; the others take `indexedDB` away. */
const BLOCKED_WEBKIT = [
  '--cookies-policy=never',
  '--enable-html5-local-storage=false',
  '--enable-html5-database=false',
];

/**
 * A rule for the frame's site within the other blocks storage there alone. The preference against
 * third-party cookies (`cookie_controls_mode`) left a frame its storage when we tried it.
 */
function chromiumProfile(blocked: Setting['blocked'], url: string) {
  if (blocked === 'all') return { default_content_setting_values: { cookies: 2 } };
  if (blocked === 'nothing') return {};
  const around = new URL(url);
  around.hostname = 'localhost';
  const rule = `${new URL(url).origin},${around.origin}`;
  return { content_settings: { exceptions: { cookies: { [rule]: { setting: 2 } } } } };
}

/** Opens pages of a URL in a browser with a setting of the user. */
async function launch({ browser, blocked }: Setting, site: string) {
  if (browser === 'webkit') {
    const webkit = await launchWebKit({ flags: blocked === 'all' ? BLOCKED_WEBKIT : [] });
    return { open: (url: string) => webkit.openTabs([url]), close: webkit.close };
  }
  if (browser === 'firefox') {
    const preferences = blocked === 'all' ? { 'network.cookie.cookieBehavior': 2 } : {};
    const firefox = await launchFirefox({ preferences });
    return { open: (url: string) => firefox.newPage(url), close: firefox.close };
  }
  const profile = makeFolder('frames');
  mkdirSync(join(profile, 'Default'));
  const preferences = JSON.stringify({ profile: chromiumProfile(blocked, site) });
  writeFileSync(join(profile, 'Default', 'Preferences'), preferences);
  const chromium = await launchUntouchedChromium({ profile });
  return {
    open: async (url: string) => (await chromium.newPage()).goto(url),
    close: async () => {
      await chromium.close();
      removeFolder(profile);
    },
  };
}

describe.each(SETTINGS.filter(({ browser }) => runs(browser)))(
  '$browser, blocked: $blocked',
  (setting) => {
    let site: Awaited<ReturnType<typeof serveReports>>;
    let browser: Awaited<ReturnType<typeof launch>>;

    beforeAll(async () => {
      site = await serveReports();
      browser = await launch(setting, site.url);
    });

    afterAll(async () => {
      await browser.close();
      await site.close();
    });

    const places: readonly Place[] = ['page', 'third-party frame', 'sandbox'];
    test.for(places.flatMap((place) => CLIENTS.map((client) => [client, place] as const)))(
      '%s works in a %s',
      async ([client, place]) => {
        const { url, report } = site.page(place, client);
        await browser.open(url);
        const isStored = setting.stored.includes(place);
        const { origin, ...rest } = await report;
        expect(rest).toEqual({
          found: ['a', 'b'],
          shown: 2,
          storage: isStored ? 'indexeddb' : 'memory',
          hasReason: !isStored,
          ended: 'closed',
          // A worker warns in its own console.
          warnings: isStored || client === 'connect' ? 0 : 1,
        });
        expect(origin === 'null').toBe(place === 'sandbox');
      },
    );
  },
);
