import { useCallback, useMemo } from 'react'
import { navigate, useSearch } from './location'

export type Filters<Name extends string> = Record<Name, string>

/** The values of these names in a query; '' for those that are not there. */
export function readFilters<Name extends string>(search: string, names: readonly Name[]): Filters<Name> {
  const query = new URLSearchParams(search)
  return Object.fromEntries(names.map((name) => [name, query.get(name) ?? ''])) as Filters<Name>
}

/** A query with some values changed: '' removes one, what is not named stays. */
export function changeFilters(search: string, change: Partial<Record<string, string>>): string {
  const query = new URLSearchParams(search)
  for (const [name, value] of Object.entries(change)) {
    if (value) query.set(name, value)
    else query.delete(name)
  }
  const text = query.toString()
  return text ? `?${text}` : ''
}

/** Filters that stand in the address, so that a link shows the same view. */
export function useFilters<Name extends string>(names: readonly Name[]) {
  const search = useSearch()
  const joined = names.join(' ')
  const filters = useMemo(() => readFilters(search, joined.split(' ') as Name[]), [search, joined])
  const change = useCallback((values: Partial<Filters<Name>>) => {
    navigate(window.location.pathname + changeFilters(window.location.search, values), { replace: true })
  }, [])
  return [filters, change] as const
}
