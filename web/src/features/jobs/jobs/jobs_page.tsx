import { Button } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import { Link } from '../../../app/router/link'
import { navigate } from '../../../app/router/location'
import { useFilters } from '../../../app/router/search'
import { useSession } from '../../../app/session'
import { useText } from '../../../i18n/language'
import { hasEnded, type Job, useJobs } from '../../../queries/jobs'
import { DataTable } from '../../../ui/data_table'
import { Page } from '../../../ui/page'
import { EmptyState, Ready } from '../../../ui/states'
import { CancelMany } from './cancel_many'
import { filterNames, isFiltered, noFilters, type ParsedFilters, parseJobFilters, parseJobGrouping } from './filters'
import { useJobColumns } from './job_columns'
import { JobGroupsTable } from './job_groups_table'
import { type Change, JobTools } from './job_tools'

const names = [...filterNames, 'group'] as const

export function JobsPage() {
  const t = useText()
  const { may } = useSession()
  const [raw, change] = useFilters(names)
  const filters = parseJobFilters(raw)
  const grouping = parseJobGrouping(raw.group)
  const tools = <JobTools filters={filters} grouping={grouping ?? ''} change={change} />
  const empty = isFiltered(filters)
    ? <EmptyState title={t('jobs.none')} action={<Button onClick={() => change(noFilters)}>{t('jobs.none.clear')}</Button>} />
    : <EmptyState title={t('jobs.none.yet')} action={may('submit_jobs') ? <Link href="/submit">{t('jobs.none.submit')}</Link> : undefined} />
  const submit = may('submit_jobs') ? <Button variant="filled" onClick={() => navigate('/submit')}>{t('jobs.none.submit')}</Button> : null
  if (grouping) {
    return (
      <Page title={t('jobs.title')} actions={submit}>
        <JobGroupsTable filters={filters} by={grouping} tools={tools} empty={empty} />
      </Page>
    )
  }
  return <JobList filters={filters} change={change} tools={tools} empty={empty} submit={submit} />
}

function JobList({ filters, change, tools, empty, submit }: {
  filters: ParsedFilters
  change: Change
  tools: ReactNode
  empty: ReactNode
  submit: ReactNode
}) {
  const t = useText()
  const { may } = useSession()
  const query = useJobs(filters)
  const columns = useJobColumns()
  const [chosen, choose] = useState<ReadonlySet<string>>(new Set())
  const [cancelling, setCancelling] = useState<readonly Job[]>([])
  const jobs = query.items ?? []
  // The server says whose jobs one may cancel; who may not submit has none of their own.
  const mayCancel = may('cancel_any_job') || may('submit_jobs')
  const able = jobs.filter((job) => chosen.has(job.id) && !hasEnded(job.state))
  return (
    <Page title={t('jobs.title')} actions={
      <>{able.length > 0 ? <Button onClick={() => setCancelling(able)}>{t('jobs.cancel.chosen')}</Button> : null}{submit}</>
    }>
      <Ready query={query} tools={tools}>
        <DataTable name="jobs" label={t('jobs.title')} columns={columns} rows={jobs} rowKey={(job) => job.id}
          rowName={(job) => job.name || job.id} pages={query} tools={tools} empty={empty}
          sort={{ by: filters.sort, change: (sort) => change({ sort: sort === '-submitted' ? '' : sort }) }}
          {...(mayCancel ? { selection: { chosen, change: choose, can: (job: Job) => !hasEnded(job.state) } } : {})} />
      </Ready>
      {cancelling.length > 0 ? <CancelMany jobs={cancelling} onClose={() => {
        setCancelling([])
        choose(new Set())
      }} /> : null}
    </Page>
  )
}
