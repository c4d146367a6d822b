import { api, unwrap } from '../api/client'
import { useListInParts, usePages } from '../api/pages'
import type { components } from '../api/schema'

export type NetworkWindow = components['schemas']['NetworkWindow']

export interface WindowFilters {
  center: string
  /** A planned transfer; null: none. */
  sizeBytes: number | null
  /** RFC 3339; '': in a day. */
  latestStart: string
}

export function useNetworkWindows({ center, sizeBytes, latestStart }: WindowFilters) {
  return usePages({
    key: ['metering', 'windows', center, sizeBytes, latestStart],
    refetchInterval: 60_000,
    read: (page_token, signal) => unwrap(api.GET('/api/v1/network-windows', {
      signal, params: { query: {
        page_size: 20, ...(center ? { center } : {}), ...(sizeBytes === null ? {} : { size_bytes: sizeBytes }),
        ...(sizeBytes !== null && latestStart ? { latest_start: latestStart } : {}), ...(page_token ? { page_token } : {}) } } })),
  })
}

/**
 * Of all centers, without a planned transfer. The server computes each from weeks of transfers, so that only so many are read, in small
 * pages, and seldom: what they say changes from hour to hour. What has come is shown while the rest is read.
 */
export function useTimedNetworks() {
  const everyMs = 600_000
  return useListInParts({
    key: ['metering', 'windows', 'all'],
    read: (page_token, signal) => unwrap(api.GET('/api/v1/network-windows', {
      signal, params: { query: { page_size: 20, ...(page_token ? { page_token } : {}) } } })),
    limit: 100,
    refetchInterval: everyMs,
    staleTime: everyMs,
  })
}
