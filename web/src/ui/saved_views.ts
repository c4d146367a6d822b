/** A table as somebody wants to see it again: the filters of the page's address, and the columns that are not shown. */
export interface SavedView {
  name: string
  search: string
  hidden: string[]
}

export const mostViews = 50
export const longestViewName = 60

function isView(value: unknown): value is SavedView {
  if (typeof value !== 'object' || value === null) return false
  const view = value as Partial<SavedView>
  return typeof view.name === 'string' && view.name !== '' && typeof view.search === 'string' &&
    Array.isArray(view.hidden) && view.hidden.every((id) => typeof id === 'string')
}

/** What was stored; what is no view, for instance of an older console, is left out. */
export function readViews(stored: string | null): SavedView[] {
  if (stored === null) return []
  try {
    const read: unknown = JSON.parse(stored)
    return Array.isArray(read) ? read.filter(isView).slice(0, mostViews) : []
  } catch {
    return []
  }
}

/** With the view, in place of the one that has its name; by name. */
export function withView(views: readonly SavedView[], view: SavedView): SavedView[] {
  return [...withoutView(views, view.name), view].sort((a, b) => a.name.localeCompare(b.name))
}

export function withoutView(views: readonly SavedView[], name: string): SavedView[] {
  return views.filter((view) => view.name !== name)
}

function sorted(search: string): string {
  const query = new URLSearchParams(search)
  query.sort()
  return query.toString()
}

/** Whether this is what is shown now. */
export function isShown(view: SavedView, search: string, hidden: ReadonlySet<string>): boolean {
  return sorted(view.search) === sorted(search) && view.hidden.length === hidden.size && view.hidden.every((id) => hidden.has(id))
}
