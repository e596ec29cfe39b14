import { signal } from '@preact/signals';

/** Whether the page and the cities are cached, so that it opens offline. */
export const isKeptOffline = signal(navigator.serviceWorker?.controller != null);

/** Whether the browser reports a network. */
export const isOnline = signal(navigator.onLine);

/** Registers the service worker, where the browser has one. */
export function keepForOffline(): void {
  addEventListener('online', () => {
    isOnline.value = true;
  });
  addEventListener('offline', () => {
    isOnline.value = false;
  });
  if (!import.meta.env.PROD || !navigator.serviceWorker) return;
  navigator.serviceWorker.addEventListener('controllerchange', () => {
    isKeptOffline.value = true;
  });
  // After the page has loaded, which needs the bandwidth first.
  addEventListener('load', () => {
    navigator.serviceWorker
      .register('./sw.js')
      .catch((error) => console.warn('The page is not kept for offline:', error));
  });
}
