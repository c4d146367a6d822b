import { useQuery } from '@tanstack/react-query'
import { api, unwrap } from '../api/client'
import type { components } from '../api/schema'

export type Simulation = components['schemas']['Simulation']
export type SimulatedCase = components['schemas']['SimulatedCase']
export type SimulationFigures = components['schemas']['SimulationFigures']
export type SimulationPolicy = components['schemas']['SimulationPolicy']
export type NetworkChange = components['schemas']['NetworkChange']
export type LeftOutJobs = components['schemas']['LeftOutJobs']

/** What is asked, with every choice made. */
export interface SimulationOrder {
  days: number
  max_jobs: number
  policy: SimulationPolicy
  policy_after: SimulationPolicy
  seed: number
  changes: NetworkChange[]
}

const nobody: SimulationOrder = { days: 1, max_jobs: 1, policy: 'fathom', policy_after: 'fathom', seed: 1, changes: [] }

/** What a change would do; null: nothing is asked yet. It is computed for long, so an answer is kept as long as the page is open. */
export function useSimulation(order: SimulationOrder | null) {
  return useQuery({
    queryKey: ['simulations', order],
    queryFn: ({ signal }) => unwrap(api.POST('/api/v1/simulations', { body: order ?? nobody, signal })),
    enabled: order !== null,
    staleTime: Infinity,
    retry: false,
  })
}
