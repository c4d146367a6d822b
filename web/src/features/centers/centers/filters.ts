import type { Center } from '../../../queries/centers'
import { knownWord } from '../../../ui/known_word'
import { type Health, healthOf, healths } from '../health'

export interface CenterFilters {
  /** A part of the name, in any case. */
  name: string
  /** '': any. */
  health: Health | ''
}

export function parseCenterFilters(raw: Record<'name' | 'health', string>): CenterFilters {
  return { name: raw.name, health: knownWord(healths, raw.health) ?? '' }
}

/** The centers that fit; all of them were read at once, so they are filtered here. */
export function filterCenters(centers: readonly Center[], filters: CenterFilters): readonly Center[] {
  const name = filters.name.trim().toLowerCase()
  return centers.filter((center) =>
    (!name || center.name.toLowerCase().includes(name)) && (!filters.health || healthOf(center) === filters.health))
}
