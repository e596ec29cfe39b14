import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';
import { VitePWA } from 'vite-plugin-pwa';

const server = 'http://localhost:3000';

export default defineConfig({
  resolve: { dedupe: ['react'] }, // a linked cairndb would bring the one of its repository
  server: { proxy: { '/sync': server, '/orders': server } }, // `npm run dev` beside `npm start`
  plugins: [
    react(),
    // Precaches the build: the app opens in a cellar, too.
    VitePWA({
      registerType: 'autoUpdate',
      manifest: {
        name: 'Field service',
        short_name: 'Field service',
        description: 'Jobs, visits and stock, with and without a network.',
        theme_color: '#1f6f5c',
        background_color: '#f6f5f1',
        icons: [{ src: 'icon.svg', sizes: 'any', type: 'image/svg+xml', purpose: 'any' }],
      },
      workbox: { globPatterns: ['**/*.{js,css,html,svg}'], globIgnores: ['**/thread-*.js'] },
    }),
  ],
});
