import { useQuery } from '@tanstack/react-query'
import type { components } from '../api/schema'

export type Readiness = components['schemas']['Readiness']

export interface Health {
  /** Whether the process answers. */
  answers: boolean
  /** Null: it did not say. */
  readiness: Readiness | null
  version: string | null
  /** How long /healthz took, in seconds. */
  took_s: number
}

export const healthKeys = { all: ['health'] as const }

/** The server's own word on itself. /readyz answers 503 with the same body when something is away: that is no failure here. */
export function useHealth() {
  return useQuery({
    queryKey: healthKeys.all,
    queryFn: async ({ signal }): Promise<Health> => {
      const begun = performance.now()
      const answers = (await fetch('/healthz', { signal })).ok
      const took_s = (performance.now() - begun) / 1000
      const readiness = parseReadiness(await (await fetch('/readyz', { signal })).json().catch(() => null))
      const document = (await (await fetch('/openapi.json', { signal })).json().catch(() => null)) as { info?: { version?: unknown } } | null
      const version = document?.info?.version
      return { answers, readiness, version: typeof version === 'string' ? version : null, took_s }
    },
    refetchInterval: 15_000,
  })
}

export function parseReadiness(value: unknown): Readiness | null {
  const body = value as Partial<Readiness> | null
  return typeof body?.status === 'string' && typeof body.checks === 'object' ? (body as Readiness) : null
}
