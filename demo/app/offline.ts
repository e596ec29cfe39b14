import { signal } from '@preact/signals';

/** Whether the page and the cities are kept on this device, so that it opens without a network. */
export const isKeptOffline = signal(navigator.serviceWorker?.controller != null);

/** Whether there is a network now, as far as the browser can tell. */
export const isOnline = signal(navigator.onLine);

/** Lets a service worker keep the page. Where there is none, the page works as any other. */
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
  // After the page itself, which needs the line first.
  addEventListener('load', () => {
    navigator.serviceWorker
      .register('./sw.js')
      .catch((error) => console.warn('The page is not kept for offline:', error));
  });
}
