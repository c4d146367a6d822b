import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { cleanup, renderHook, waitFor } from '@testing-library/react'
import type { ReactNode } from 'react'
import { afterEach, expect, it, vi } from 'vitest'
import { useAuditLog } from './audit_log'
import { useBalancedUnits } from './balance'
import { useMaintenance, useReservations } from './calendar'
import { useCycles } from './cycles'
import { useFindings } from './finding_list'
import { useProbeRuns } from './probe_runs'
import { useProbeTasks } from './probe_tasks'
import { useScalingCurves } from './scaling_curves'
import { useSubUnitEvents, useSubUnitGrants, useSubUnitRequests } from './sub_units'
import { useUsage } from './usage'

const { GET } = vi.hoisted(() => ({ GET: vi.fn() }))
vi.mock('../api/client', () => ({
  api: { GET }, idempotencyKey: () => 'key', unwrap: async (answer: Promise<{ data: unknown }>) => (await answer).data }))

afterEach(cleanup)

/** Each list whose filters stand in its table: what it is called, and what a page asks of it with a filter set to a value. */
const lists: { name: string; useList: (value: string) => { data?: unknown } }[] = [
  { name: 'findings', useList: (center) => useFindings({ center, kind: '', open: '' }) },
  { name: 'audit log', useList: (actor) => useAuditLog({ actor, action: '', subject: '', since: '', until: '' }) },
  { name: 'scheduling cycles', useList: (since) => useCycles({ since, until: '' }) },
  { name: 'usage', useList: (project) => useUsage({ project, center: '', job_id: '', from: '', until: '' }) },
  { name: 'probe runs', useList: (unit_type) => useProbeRuns({ state: '', unit_type, probe_task: '' }) },
  { name: 'probe tasks', useList: (job_type) => useProbeTasks({ state: '', job_type }) },
  { name: 'scaling curves', useList: (center) => useScalingCurves({ center, operator: '' }) },
  { name: 'requests for sub-units', useList: (kind) => useSubUnitRequests({ kind, open: false }) },
  { name: 'grants of sub-units', useList: (kind) => useSubUnitGrants(kind) },
  { name: 'history of sub-units', useList: (kind) => useSubUnitEvents(kind) },
  { name: 'balanced units', useList: (center) => useBalancedUnits(center) },
  { name: 'reservations', useList: (center) => useReservations({ center, project: '', open: true }) },
  { name: 'maintenance', useList: (center) => useMaintenance({ center, open: true }) },
]

it.each(lists)('while another filter is asked for, the list and its filters stay: $name', async ({ useList }) => {
  const client = new QueryClient({ defaultOptions: { queries: { retry: false } } })
  const wrapper = ({ children }: { children: ReactNode }) => <QueryClientProvider client={client}>{children}</QueryClientProvider>
  GET.mockResolvedValueOnce({ data: { items: [{ id: 'one' }], next_page_token: null } })
  const { result, rerender } = renderHook(({ value }) => useList(value), { wrapper, initialProps: { value: '' } })
  await waitFor(() => {
    expect(result.current.data).toBeDefined()
  })
  GET.mockReturnValueOnce(new Promise(() => undefined))
  rerender({ value: 'another' })
  expect(result.current.data).toBeDefined()
  client.clear()
})
