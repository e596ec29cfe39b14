import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vite';
import { VitePWA, type VitePWAOptions } from 'vite-plugin-pwa';
import { citiesAsset } from './tools/build/cities-asset.ts';
import { fontPreload } from './tools/build/font-preload.ts';
import { sourceWorker } from './tools/build/source-worker.ts';
import { workerScript } from './tools/build/worker-script.ts';

const path = (relative: string) => fileURLToPath(new URL(relative, import.meta.url));

/** The page, its worker and the cities are kept by a service worker: it installs, and opens without a network. */
const offline: Partial<VitePWAOptions> = {
  registerType: 'autoUpdate',
  injectRegister: false,
  manifest: {
    name: 'Cairn playground',
    short_name: 'Cairn',
    description: 'A document database inside the browser tab, to try.',
    display: 'standalone',
    start_url: './',
    scope: './',
    background_color: '#f5f3ee',
    theme_color: '#17604c',
    icons: [
      { src: 'icon-192.png', sizes: '192x192', type: 'image/png' },
      { src: 'icon-512.png', sizes: '512x512', type: 'image/png', purpose: 'any maskable' },
    ],
  },
  workbox: {
    globPatterns: ['**/*.{html,js,css,svg,png,woff2,gzip}'],
    maximumFileSizeToCacheInBytes: 8_000_000,
    navigateFallback: null, // there is one page, and the panels are in its hash
  },
};

/** The playground, on the library's source. */
export default defineConfig({
  root: path('demo'),
  base: './',
  resolve: { alias: { cairndb: path('src/index.ts') } },
  plugins: [sourceWorker(), workerScript(), citiesAsset(), fontPreload(), VitePWA(offline)],
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  worker: { format: 'es' },
  optimizeDeps: { include: ['comlink', 'idb', 'nanoid'] },
  server: { fs: { allow: [path('.')] } },
  build: { outDir: path('demo/dist'), emptyOutDir: true, target: 'es2022' },
});
