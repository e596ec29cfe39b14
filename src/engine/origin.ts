/** Whose request it is, by the client's own number. */
export interface Origin {
  readonly client: string;
  readonly number: number;
}
