export interface PaletteItem {
  kind: 'page' | 'center' | 'job'
  href: string
  name: string
  /** Another thing it is found by, shown beside the name. */
  id: string
}

/** The items that fit what was typed, best first: those that begin with it, then those that hold it. */
export function rank(items: readonly PaletteItem[], typed: string, most = 12): PaletteItem[] {
  const wanted = typed.trim().toLowerCase()
  if (!wanted) return items.filter((item) => item.kind === 'page').slice(0, most)
  const scored = items.map((item) => {
    const texts = [item.name.toLowerCase(), item.id.toLowerCase()]
    const score = texts.some((text) => text === wanted) ? 0 : texts.some((text) => text.startsWith(wanted)) ? 1
      : texts.some((text) => text.includes(wanted)) ? 2 : 3
    return { item, score }
  })
  return scored.filter(({ score }) => score < 3).sort((a, b) => a.score - b.score).slice(0, most).map(({ item }) => item)
}
