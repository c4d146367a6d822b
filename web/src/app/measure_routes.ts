import { lazy } from 'react'
import type { PageComponent, Route } from './routes'

function page(load: () => Promise<PageComponent>) {
  return lazy(async () => ({ default: await load() }))
}

/** The pages of the group Measure. Those that change something are offered to who may; those that show, to all. */
export const measureRoutes: readonly Route[] = [
  { path: '/scores', permission: 'read_network', entry: { group: 'measure', title: 'scores.title' },
    page: page(async () => (await import('../features/scores/scores_page')).ScoresPage) },
  { path: '/scores/history', permission: 'read_network',
    page: page(async () => (await import('../features/scores/history_page')).HistoryPage) },
  { path: '/scaling', permission: 'read_network', entry: { group: 'measure', title: 'scaling.title' },
    page: page(async () => (await import('../features/scaling/scaling_page')).ScalingPage) },
  { path: '/network-windows', permission: 'read_network', entry: { group: 'measure', title: 'windows.title' },
    page: page(async () => (await import('../features/network_windows/windows_page')).NetworkWindowsPage) },
  { path: '/speedup', permission: 'read_network', entry: { group: 'measure', title: 'speedup.title' },
    page: page(async () => (await import('../features/speedup/speedup_page')).SpeedupPage) },
  { path: '/measure', permission: 'manage_metering', entry: { group: 'measure', title: 'runs.measure' },
    page: page(async () => (await import('../features/probe_runs/measure/measure_page')).MeasurePage) },
  { path: '/probe-runs', permission: 'read_network', entry: { group: 'measure', title: 'runs.title' },
    page: page(async () => (await import('../features/probe_runs/runs/runs_page')).RunsPage) },
  { path: '/probe-runs/:id', permission: 'read_network',
    page: page(async () => (await import('../features/probe_runs/run/run_page')).RunPage) },
  { path: '/probe-orders/:id', permission: 'read_network',
    page: page(async () => (await import('../features/probe_runs/report/order_page')).OrderPage) },
  { path: '/probe-schedules', permission: 'read_network', entry: { group: 'measure', title: 'schedules.title' },
    page: page(async () => (await import('../features/probe_schedules/schedules_page')).SchedulesPage) },
  { path: '/findings', permission: 'read_network', entry: { group: 'measure', title: 'findings.title' },
    page: page(async () => (await import('../features/findings/findings_page')).FindingsPage) },
  { path: '/operators', permission: 'read_network', entry: { group: 'measure', title: 'operators.title' },
    page: page(async () => (await import('../features/operators/operators/operators_page')).OperatorsPage) },
  { path: '/operators/:id', permission: 'read_network',
    page: page(async () => (await import('../features/operators/operator/operator_page')).OperatorPage) },
  { path: '/probe-tasks', permission: 'read_network', entry: { group: 'measure', title: 'tasks.title' },
    page: page(async () => (await import('../features/probe_tasks/tasks/tasks_page')).TasksPage) },
  { path: '/probe-tasks/compose', permission: 'manage_metering',
    page: page(async () => (await import('../features/probe_tasks/compose/compose_page')).ComposePage) },
  { path: '/probe-tasks/:id', permission: 'read_network',
    page: page(async () => (await import('../features/probe_tasks/task/task_page')).TaskPage) },
  { path: '/job-types', permission: 'read_network', entry: { group: 'measure', title: 'jobtypes.title' },
    page: page(async () => (await import('../features/job_types/job_types_page')).JobTypesPage) },
  { path: '/metric-policies', permission: 'read_network', entry: { group: 'measure', title: 'policies.title' },
    page: page(async () => (await import('../features/metric_policies/policies/policies_page')).PoliciesPage) },
  { path: '/metric-policies/:id', permission: 'read_network',
    page: page(async () => (await import('../features/metric_policies/policy/policy_page')).PolicyPage) },
]
