import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { api, unwrap } from '../api/client'
import { useWholeList } from '../api/pages'
import { ApiError } from '../api/problem'
import type { components } from '../api/schema'

export type PriceBookVersion = components['schemas']['PriceBookVersion']
export type PriceTrial = components['schemas']['PriceTrial']

// The description says of both that they need one of two prices, which the generator of types makes nothing known of.
export interface PriceBand {
  days?: readonly ('mon' | 'tue' | 'wed' | 'thu' | 'fri' | 'sat' | 'sun')[]
  from_hour?: number
  to_hour?: number
  per_score_hour?: string
  per_unit_hour?: string
}

export interface PriceEntry {
  center: string
  unit_type: string
  per_score_hour?: string
  per_unit_hour?: string
  per_idle_reserved_unit_hour?: string
  bands?: readonly PriceBand[]
  unit_power_w?: number
  carbon_g_per_kwh?: number
}

export type PriceDocument = Omit<components['schemas']['PriceBookDocument'], 'entries'> & { entries: PriceEntry[] }
export type PriceBook = Omit<components['schemas']['PriceBook'], 'document'> & { document: PriceDocument }

export const priceKeys = {
  all: ['price-books'] as const,
  list: ['price-books', 'list'] as const,
  current: ['price-books', 'current'] as const,
  one: (version: string) => ['price-books', 'one', version] as const,
}

export function usePriceBooks() {
  return useWholeList({
    key: priceKeys.list,
    read: (page_token, signal) => unwrap(api.GET('/api/v1/price-books', { signal, params: { query: { page_size: 200, page_token } } })),
  })
}

/** The prices in force; null: nothing has a price. */
export function useCurrentPriceBook() {
  return useQuery({
    queryKey: priceKeys.current,
    queryFn: async ({ signal }): Promise<PriceBook | null> => {
      try {
        return (await unwrap(api.GET('/api/v1/price-books/current', { signal }))) as PriceBook
      } catch (error) {
        if (error instanceof ApiError && error.status === 404) return null
        throw error
      }
    },
  })
}

/** A version with its prices. They never change, but whether they hold does. */
export function usePriceBook(version: string, enabled = true) {
  return useQuery({
    queryKey: priceKeys.one(version),
    queryFn: async ({ signal }) => (await unwrap(api.GET('/api/v1/price-books/{version}', { signal, params: { path: { version } } }))) as PriceBook,
    enabled,
  })
}

/** What past usage would have cost; changes nothing. */
export function useTryPrices() {
  return useMutation({
    mutationFn: (order: { document: PriceDocument; from: string; until: string | null }) => unwrap(api.POST('/api/v1/price-books:try', { body: order })),
  })
}

export function useSetPrices() {
  const client = useQueryClient()
  return useMutation({
    mutationFn: ({ document, valid_from, key }: { document: PriceDocument; valid_from: string | null; key: string }) =>
      unwrap(api.POST('/api/v1/price-books', { params: { header: { 'Idempotency-Key': key } }, body: { document, valid_from } })),
    onSuccess: () => client.invalidateQueries({ queryKey: priceKeys.all }),
  })
}
