import { isDevMode, provideZonelessChangeDetection } from '@angular/core';
import { bootstrapApplication } from '@angular/platform-browser';
import { provideRouter, withComponentInputBinding, withHashLocation } from '@angular/router';
import { provideServiceWorker } from '@angular/service-worker';
import { App } from './app';
import { TaskList } from './task-list';

bootstrapApplication(App, {
  providers: [
    provideZonelessChangeDetection(),
    provideRouter(
      [
        { path: '', pathMatch: 'full', redirectTo: 'all' },
        { path: ':list', component: TaskList },
      ],
      withHashLocation(),
      withComponentInputBinding(),
    ),
    // Keeps the files of the build: the app opens without a network.
    provideServiceWorker('ngsw-worker.js', { enabled: !isDevMode() }),
  ],
}).catch(console.error);
