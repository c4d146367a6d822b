import type { ReactNode } from 'react'
import { Link } from '../../../app/router/link'
import { changeFilters } from '../../../app/router/search'
import { useSearch } from '../../../app/router/location'
import { useLanguage, useText } from '../../../i18n/language'
import { type JobFilters, type JobGroup, type JobGroups, jobStates, useJobGroups } from '../../../queries/jobs'
import { type Column, DataTable } from '../../../ui/data_table'
import { formatNumber } from '../../../ui/format'
import { knownWord } from '../../../ui/known_word'
import { LoadBar } from '../../../ui/load_bar'
import { Ready } from '../../../ui/states'
import { JobStatePill } from '../job_state'
import styles from './job_groups.module.css'

/** How many jobs there are by what they have in common, instead of the jobs; each group leads to its jobs. */
export function JobGroupsTable({ filters, by, tools, empty }: { filters: JobFilters; by: JobGroups['by']; tools: ReactNode; empty: ReactNode }) {
  const { t, locale } = useLanguage()
  const query = useJobGroups(filters, by)
  const groups = query.data?.groups ?? []
  // While the next answer comes, what is shown is that of the question before.
  const shown = query.data?.by ?? by
  const most = Math.max(1, ...groups.map((group) => group.count))
  const columns: Column<JobGroup>[] = [
    { id: 'key', title: t(`jobs.group.${shown}`), cell: (group) => <GroupName by={shown} name={group.key} />, csv: (group) => group.key },
    { id: 'count', title: t('jobs.group.count'), cell: (group) => <LoadBar share={group.count / most}>{formatNumber(group.count, locale)}</LoadBar>, csv: (group) => group.count },
    ...(shown === 'state' ? [] : [{ id: 'states', title: t('jobs.state'), cell: (group: JobGroup) => <States group={group} />,
      csv: (group: JobGroup) => Object.entries(group.states).map(([state, count]) => `${state} ${count}`).join(', ') }]),
  ]
  return (
    <Ready query={query} tools={tools}>
      <DataTable name={`job-groups-${shown}`} label={t('jobs.group.by', { by: t(`jobs.group.${shown}`) })} columns={columns} rows={groups}
        rowKey={(group) => group.key} tools={tools} empty={empty} />
      {query.data && query.data.group_count > groups.length
        ? <p role="status" className="dim">{t('jobs.group.most', { n: groups.length, all: formatNumber(query.data.group_count, locale) })}</p> : null}
      {query.data?.is_cut ? <p role="status" className="dim">{t('jobs.group.cut', { n: formatNumber(query.data.counted, locale) })}</p> : null}
    </Ready>
  )
}

function GroupName({ by, name }: { by: JobGroups['by']; name: string }) {
  const t = useText()
  const search = useSearch()
  const toJobs = (change: Record<string, string>) => `/jobs${changeFilters(search, { ...change, group: '' })}`
  if (by === 'state') {
    const state = knownWord(jobStates, name)
    return <Link href={toJobs({ state: name })}>{state ? <JobStatePill state={state} /> : name}</Link>
  }
  if (by === 'project') return <Link href={toJobs({ project: name })}>{name}</Link>
  if (!name) return <span className="dim">{t(by === 'center' ? 'jobs.group.center.none' : 'jobs.group.type.none')}</span>
  return <Link href={toJobs({ [by]: name })}>{name}</Link>
}

function States({ group }: { group: JobGroup }) {
  const { locale } = useLanguage()
  return (
    <span className={styles.states}>
      {jobStates.filter((state) => group.states[state]).map((state) => (
        <span key={state} className={styles.state}><JobStatePill state={state} /> {formatNumber(group.states[state], locale)}</span>
      ))}
    </span>
  )
}
