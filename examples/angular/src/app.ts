import { Component, inject } from '@angular/core';
import { RouterLink, RouterLinkActive, RouterOutlet } from '@angular/router';
import { injectLiveCount } from 'cairndb/angular';
import { AddTask } from './add-task';
import { tasks } from './database';
import { PageFooter } from './page-footer';
import { Problem } from './problem';

@Component({
  selector: 'app-root',
  imports: [AddTask, PageFooter, RouterLink, RouterLinkActive, RouterOutlet],
  template: `
    <main>
      <header>
        <h1>Tasks</h1>
        @if (open.data() !== undefined) { <output>{{ open.data() }} open</output> }
      </header>
      <app-add-task />
      <nav aria-label="Lists">
        @for (list of lists; track list) {
          <a [routerLink]="list" routerLinkActive ariaCurrentWhenActive="page">{{ list }}</a>
        }
      </nav>
      @if (problem.message(); as message) { <p class="problem" role="alert">{{ message }}</p> }
      <router-outlet />
      <app-page-footer />
    </main>
  `,
})
export class App {
  readonly lists = ['all', 'open', 'done'];
  readonly open = injectLiveCount(tasks, { done: false });
  readonly problem = inject(Problem);
}
