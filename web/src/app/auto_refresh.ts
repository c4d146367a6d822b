import { type DefaultError, type DefaultedQueryObserverOptions, QueryClient, type QueryKey } from '@tanstack/react-query'
import { useSyncExternalStore } from 'react'
import { readStored, store } from './storage'

// Whether what is shown is asked for again by itself; this browser remembers it. Who reads slowly, or is distracted by rows that
// move, stops it (WCAG 2.2.2), and asks by hand.
let isOn = readStored('refresh') !== 'by-hand'
const listeners = new Set<() => void>()

export function isAutoRefreshing(): boolean {
  return isOn
}

export function setAutoRefreshing(on: boolean): void {
  isOn = on
  store('refresh', on ? 'by-itself' : 'by-hand')
  for (const listener of listeners) listener()
}

function subscribe(listener: () => void) {
  listeners.add(listener)
  return () => void listeners.delete(listener)
}

export function useAutoRefresh(): boolean {
  return useSyncExternalStore(subscribe, isAutoRefreshing)
}

/** A client whose queries keep to their intervals, and look again when their page gets the focus, only while that is wanted. */
export class RefreshingClient extends QueryClient {
  override mount(): void {
    super.mount()
    listeners.add(this.#keepTime)
  }

  override unmount(): void {
    super.unmount()
    listeners.delete(this.#keepTime)
  }

  override defaultQueryOptions<
    Answer = unknown, Failure = DefaultError, Data = Answer, QueryData = Answer, Key extends QueryKey = QueryKey, Parameter = never,
  >(...[options]: Parameters<typeof QueryClient.prototype.defaultQueryOptions<Answer, Failure, Data, QueryData, Key, Parameter>>) {
    const isDefaulted = options._defaulted
    const all: DefaultedQueryObserverOptions<Answer, Failure, Data, QueryData, Key> = super.defaultQueryOptions(options)
    const { refetchInterval } = all
    if (isDefaulted) return all
    return {
      ...all,
      refetchOnWindowFocus: isAutoRefreshing,
      refetchOnReconnect: isAutoRefreshing,
      ...(refetchInterval ? { refetchInterval: (query: never) => (isOn ? (typeof refetchInterval === 'function' ? refetchInterval(query) : refetchInterval) : false) } : {}),
    } as typeof all
  }

  /** Has what is shown set or stop its timers. */
  readonly #keepTime = () => {
    for (const query of this.getQueryCache().getAll()) for (const observer of query.observers) observer.onQueryUpdate()
  }
}
