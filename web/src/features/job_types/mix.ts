import { formatShare } from '../../ui/format'

export interface MixPart {
  name: string
  /** 0 to 1, of the work. */
  share: number
}

/** The parts of a mix, the largest first. */
export function partsOf(mix: Readonly<Record<string, number>>): MixPart[] {
  return Object.entries(mix).map(([name, share]) => ({ name, share })).sort((a, b) => b.share - a.share || a.name.localeCompare(b.name))
}

/** The largest parts in one line; how many more there are. */
export function mixText(mix: Readonly<Record<string, number>>, most = 3): string {
  const parts = partsOf(mix)
  const rest = parts.length - most
  return [...parts.slice(0, most).map((part) => `${part.name} ${formatShare(part.share, 0)}`), ...(rest > 0 ? [`+${rest}`] : [])].join(', ')
}
