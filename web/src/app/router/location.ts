import { useSyncExternalStore } from 'react'

// The address bar is the state: pages read it, and tell it where to go.
const listeners = new Set<() => void>()
const moved = () => {
  for (const listener of listeners) listener()
}

function subscribe(listener: () => void) {
  if (listeners.size === 0) window.addEventListener('popstate', moved)
  listeners.add(listener)
  return () => {
    listeners.delete(listener)
    if (listeners.size === 0) window.removeEventListener('popstate', moved)
  }
}

export function navigate(to: string, how: { replace?: boolean } = {}): void {
  if (how.replace) window.history.replaceState(null, '', to)
  else {
    window.history.pushState(null, '', to)
    window.scrollTo(0, 0)
  }
  moved()
}

export function usePath(): string {
  return useSyncExternalStore(subscribe, () => window.location.pathname)
}

export function useSearch(): string {
  return useSyncExternalStore(subscribe, () => window.location.search)
}
