import { part } from '../part.ts';
import { explainProblem, locateProblem, type Query, type QueryForm, readParams } from '../query.ts';
import { EXAMPLES } from '../query-examples.ts';

const LABELS: Record<QueryForm, string> = {
  criteria: 'Criteria, as JSON',
  function: 'Function of a city, in JavaScript',
};

/** Where a query is typed, and where it is said what is wrong with it. */
export class QueryPanel {
  readonly #form = part(document, 'query', HTMLFormElement);
  readonly #text = part(this.#form, 'query-text', HTMLTextAreaElement);
  readonly #problem = part(this.#form, 'query-problem', HTMLElement);
  readonly #examples = part(this.#form, 'examples', HTMLElement);
  readonly #find: (query: Query) => Promise<void>;
  /** What was typed in each form, kept when the other is chosen. */
  readonly #typed: Record<QueryForm, string> = {
    criteria: '{}',
    function: EXAMPLES.function[0]?.text ?? '',
  };

  /** @param find Runs a query; what it throws is shown at the field. */
  constructor(find: (query: Query) => Promise<void>) {
    this.#find = find;
    this.#form.addEventListener('submit', (event) => {
      event.preventDefault();
      this.run();
    });
    this.#form.addEventListener('change', ({ target }) => {
      if (!(target instanceof HTMLInputElement)) return;
      if (target.name === 'form') this.#showForm();
      else this.run();
    });
    this.#text.addEventListener('input', () => {
      this.#typed[this.#chosenForm] = this.#text.value;
      this.#showProblem('');
    });
    this.#text.addEventListener('keydown', (event) => {
      if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) this.#form.requestSubmit();
    });
    this.#showForm();
  }

  /** Runs what stands in the field. */
  async run(): Promise<void> {
    const { value } = this.#text;
    try {
      await this.#find({
        params: readParams(this.#chosenForm, value),
        archived: this.#chosenArchived,
      });
      this.#showProblem('');
    } catch (error) {
      this.#showProblem(explainProblem(error));
      const span = this.#chosenForm === 'criteria' && locateProblem(error, value);
      if (!span) return;
      this.#text.focus();
      this.#text.setSelectionRange(...span);
    }
  }

  get #chosenForm(): QueryForm {
    return this.#chosen('form') === 'function' ? 'function' : 'criteria';
  }

  get #chosenArchived(): Query['archived'] {
    const archived = this.#chosen('archived');
    return archived === 'only' ? archived : archived === 'true';
  }

  #chosen(name: string): unknown {
    return new FormData(this.#form).get(name);
  }

  #showForm(): void {
    const form = this.#chosenForm;
    part(this.#form, 'query-label', HTMLElement).textContent = LABELS[form];
    this.#text.value = this.#typed[form];
    this.#showProblem('');
    this.#examples.replaceChildren(
      ...EXAMPLES[form].map(({ name, text }) => {
        const button = document.createElement('button');
        button.type = 'button';
        button.className = 'example';
        button.textContent = name;
        button.addEventListener('click', () => {
          this.#text.value = text;
          this.#typed[form] = text;
          this.run();
        });
        return button;
      }),
    );
  }

  #showProblem(text: string): void {
    this.#problem.textContent = text;
    this.#text.setAttribute('aria-invalid', String(text !== ''));
  }
}
