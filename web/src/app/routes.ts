import { type ComponentType, lazy, type LazyExoticComponent } from 'react'
import type { Permission } from '../api/session'
import type { TextKey } from '../i18n/en'
import { manageRoutes } from './manage_routes'
import { measureRoutes } from './measure_routes'
import type { PathParams } from './router/match'

export type PageComponent = ComponentType<{ params: PathParams }>

export const groups = ['work', 'network', 'measure', 'accounts', 'administer'] as const
export type Group = (typeof groups)[number]

export interface Route {
  path: string
  page: LazyExoticComponent<PageComponent>
  /** Whoever lacks it neither sees the entry nor gets the page. */
  permission: Permission
  /** Its entry in the navigation; pages below another one have none. */
  entry?: { group: Group; title: TextKey }
}

function page(load: () => Promise<PageComponent>): LazyExoticComponent<PageComponent> {
  return lazy(async () => ({ default: await load() }))
}

/** Every page. One line each: its address, who may see it, where it stands in the navigation, and where its code is. */
export const routes: readonly Route[] = [
  { path: '/', permission: 'read_network', entry: { group: 'work', title: 'overview.title' },
    page: page(async () => (await import('../features/overview/overview_page')).OverviewPage) },
  { path: '/jobs', permission: 'read_jobs', entry: { group: 'work', title: 'jobs.title' },
    page: page(async () => (await import('../features/jobs/jobs/jobs_page')).JobsPage) },
  { path: '/jobs/:id', permission: 'read_jobs',
    page: page(async () => (await import('../features/jobs/job/job_page')).JobPage) },
  { path: '/submit', permission: 'submit_jobs', entry: { group: 'work', title: 'submit.title' },
    page: page(async () => (await import('../features/submit/submit_page')).SubmitPage) },
  { path: '/centers', permission: 'read_network', entry: { group: 'network', title: 'centers.title' },
    page: page(async () => (await import('../features/centers/centers/centers_page')).CentersPage) },
  { path: '/centers/:center', permission: 'read_network',
    page: page(async () => (await import('../features/centers/center/center_page')).CenterPage) },
  ...measureRoutes,
  ...manageRoutes,
]
