import { DestroyRef, Injectable, inject, signal } from '@angular/core';
import { db } from './database';

/** The last failure: of a call, or of a save, which Cairn retries. */
@Injectable({ providedIn: 'root' })
export class Problem {
  readonly message = signal<string | undefined>(undefined);
  readonly report = (error: unknown) =>
    this.message.set(error instanceof Error ? error.message : String(error));

  constructor() {
    inject(DestroyRef).onDestroy(db.on('error', ({ error }) => this.report(error)));
  }
}
