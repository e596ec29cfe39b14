import { defineConfig } from '@playwright/test';

const port = process.env.PORT ?? 4173;

export default defineConfig({
  use: {
    baseURL: `http://localhost:${port}`,
    // a Chromium of yours; if not set, the one that `npx playwright install` has downloaded
    launchOptions: { executablePath: process.env.CHROME_BIN },
  },
  webServer: {
    command: `npx vite build && npx vite preview --port ${port}`, // the app as you deploy it
    port: Number(port),
  },
});
