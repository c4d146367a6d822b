import { Button, NativeSelect } from '@mantine/core'
import { useState } from 'react'
import { useText } from '../../../i18n/language'
import { jobGroupings, jobStates } from '../../../queries/jobs'
import { MomentFilter } from '../../../ui/forms/moment_filter'
import { TextFilter } from '../../../ui/forms/text_filter'
import { useCenterOptions } from '../../centers/center_options'
import { hasMoreFilters, type ParsedFilters, type RawFilters } from './filters'

export type Change = (values: Partial<RawFilters & { group: string }>) => void

/** What jobs are filtered and counted by. */
export function JobTools({ filters, grouping, change }: { filters: ParsedFilters; grouping: string; change: Change }) {
  const t = useText()
  const isNeeded = hasMoreFilters(filters)
  const [isOpen, setOpen] = useState(isNeeded)
  const isShown = isOpen || isNeeded
  return (
    <>
      <NativeSelect label={t('jobs.state')} value={filters.state} onChange={(e) => change({ state: e.currentTarget.value })}
        data={[{ value: '', label: t('ui.any') }, ...jobStates.map((state) => ({ value: state, label: t(`jobs.state.${state}`) }))]} />
      <NativeSelect label={t('jobs.label')} value={filters.label} onChange={(e) => change({ label: e.currentTarget.value === 'job' ? '' : e.currentTarget.value })}
        data={[{ value: 'job', label: t('jobs.label.job') }, { value: 'probe', label: t('jobs.label.probe') }, { value: 'all', label: t('jobs.label.all') }]} />
      <TextFilter label={t('jobs.filter.name')} value={filters.name} onChange={(name) => change({ name })} />
      <TextFilter label={t('jobs.project')} value={filters.project} onChange={(project) => change({ project })} />
      {isShown ? <MoreFilters filters={filters} change={change} /> : null}
      {isNeeded ? null : <Button aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>{t(isOpen ? 'jobs.filter.fewer' : 'jobs.filter.more')}</Button>}
      <NativeSelect label={t('jobs.group')} value={grouping} onChange={(e) => change({ group: e.currentTarget.value })}
        data={[{ value: '', label: t('jobs.group.none') }, ...jobGroupings.map((by) => ({ value: by, label: t(`jobs.group.${by}`) }))]} />
    </>
  )
}

function MoreFilters({ filters, change }: { filters: ParsedFilters; change: Change }) {
  const t = useText()
  const centers = useCenterOptions({ none: t('ui.any'), chosen: filters.center })
  return (
    <>
      <TextFilter label={t('jobs.type')} value={filters.type} onChange={(type) => change({ type })} />
      <NativeSelect label={t('jobs.center')} value={filters.center} onChange={(e) => change({ center: e.currentTarget.value })} data={centers} />
      <TextFilter label={t('jobs.unit')} value={filters.unit_type} placeholder={t('jobs.filter.unit')} onChange={(unit_type) => change({ unit_type })} />
      <TextFilter label={t('jobs.submitter')} value={filters.submitted_by} placeholder="tok_…" width={230} onChange={(submitted_by) => change({ submitted_by })} />
      <MomentFilter label={t('jobs.filter.after')} value={filters.submitted_after} onChange={(submitted_after) => change({ submitted_after })} />
      <MomentFilter label={t('jobs.filter.before')} value={filters.submitted_before} onChange={(submitted_before) => change({ submitted_before })} />
    </>
  )
}
