import vue from '@vitejs/plugin-vue';
import { defineConfig } from 'vite';
import { VitePWA } from 'vite-plugin-pwa';

export default defineConfig({
  plugins: [
    vue(),
    // Precaches the build, with the engine for workers alone: the app opens without a network.
    VitePWA({
      registerType: 'autoUpdate',
      manifest: {
        name: 'Tasks',
        short_name: 'Tasks',
        description: 'Tasks that stay on this device.',
        theme_color: '#1f6f5c',
        background_color: '#f6f5f1',
        icons: [{ src: 'icon.svg', sizes: 'any', type: 'image/svg+xml', purpose: 'any' }],
      },
      workbox: { globPatterns: ['**/*.{js,css,html,svg}'], globIgnores: ['**/thread-*.js'] },
    }),
  ],
});
