import { registerSW } from 'virtual:pwa-register';
import { signal } from '@preact/signals';

/** Whether the page and the cities are kept on this device, so that it opens without a network. */
export const isKeptOffline = signal(navigator.serviceWorker?.controller != null);

/** Whether there is a network now, as far as the browser can tell. */
export const isOnline = signal(navigator.onLine);

/** Lets the service worker keep the page. Where there is none, the page works as any other. */
export function keepForOffline(): void {
  addEventListener('online', () => {
    isOnline.value = true;
  });
  addEventListener('offline', () => {
    isOnline.value = false;
  });
  registerSW({
    immediate: true,
    onOfflineReady: () => {
      isKeptOffline.value = true;
    },
  });
}
