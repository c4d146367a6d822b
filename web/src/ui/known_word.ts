/** The one of `known` that a text of the server is; null: one for which this console has no words yet, such as a newer agent's. */
export function knownWord<Word extends string>(known: readonly Word[], text: string | null | undefined): Word | null {
  return known.find((word) => word === text) ?? null
}
