import type { PriceDocument, PriceEntry } from '../../queries/price_books'

/** The entry that prices a unit type: its own, else the one for its whole center, else the one for the whole network. */
export function entryOf(document: PriceDocument, center: string, unitType: string): PriceEntry | null {
  const places = [[center, unitType], [center, '*'], ['*', '*']]
  for (const [ofCenter, ofUnit] of places) {
    const found = document.entries.find((entry) => entry.center === ofCenter && entry.unit_type === ofUnit)
    if (found) return found
  }
  return null
}
