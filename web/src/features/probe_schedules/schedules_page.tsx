import { Button, NativeSelect } from '@mantine/core'
import { useState } from 'react'
import { useFilters } from '../../app/router/search'
import { useSession } from '../../app/session'
import { type Translate, useText } from '../../i18n/language'
import { type ProbeSchedule, useChangeSchedule, useProbeSchedules, useRemoveSchedule } from '../../queries/probe_schedules'
import { ConfirmByTyping } from '../../ui/confirm_by_typing'
import { CutMark } from '../../ui/cut_list'
import { type Column, DataTable } from '../../ui/data_table'
import { nothing } from '../../ui/format'
import { TextFilter } from '../../ui/forms/text_filter'
import { Page } from '../../ui/page'
import { ServerText } from '../../ui/server_text'
import { StatePill } from '../../ui/state_pill'
import { EmptyState, ErrorState, NoneFits, Ready } from '../../ui/states'
import { Time } from '../../ui/zone'
import measuring from '../measuring/measuring.module.css'
import { ScheduleEditor } from './schedule_editor'
import { filterSchedules, noScheduleFilters, parseScheduleFilters, scheduleFilterNames } from './schedule_filters'

function whatOf(schedule: ProbeSchedule, t: Translate): string {
  const { order } = schedule
  if (order.probe_task_id) return t('schedules.what.task', { id: order.probe_task_id })
  if (order.job_type) return t('schedules.what.job_type', { type: order.job_type })
  return order.operators?.length ? order.operators.map((use) => use.id).join(', ') : t('schedules.what.full_benchmark')
}

function whereOf({ order }: ProbeSchedule, t: Translate): string {
  if (order.selection === 'user') return (order.unit_types ?? []).join(', ')
  const way = t(`schedules.where.${order.selection ?? 'catalog'}`)
  return order.centers?.length ? `${way}: ${order.centers.join(', ')}` : way
}

export function SchedulesPage() {
  const t = useText()
  const { may } = useSession()
  const [raw, filter] = useFilters(scheduleFilterNames)
  const filters = parseScheduleFilters(raw)
  const query = useProbeSchedules()
  const all = query.data ?? []
  const change = useChangeSchedule()
  const remove = useRemoveSchedule()
  const [edited, edit] = useState<ProbeSchedule | 'new' | null>(null)
  const [removed, setRemoved] = useState<ProbeSchedule | null>(null)
  const mayChange = may('manage_metering')
  const columns: Column<ProbeSchedule>[] = [
    { id: 'name', title: t('schedules.name'), cell: (s) => s.name, csv: (s) => s.name },
    { id: 'state', title: t('measure.state'), csv: (s) => s.enabled, cell: (s) => (s.enabled
      ? <StatePill tone="good">{t('schedules.state.on')}</StatePill> : <StatePill tone="idle">{t('schedules.state.off')}</StatePill>) },
    { id: 'cron', title: t('schedules.when'), cell: (s) => <code style={{ whiteSpace: 'nowrap' }}>{s.cron}</code>, csv: (s) => s.cron },
    { id: 'what', title: t('schedules.what'), cell: (s) => whatOf(s, t), csv: (s) => whatOf(s, t) },
    { id: 'where', title: t('schedules.where'), cell: (s) => whereOf(s, t), csv: (s) => whereOf(s, t) },
    { id: 'next_run_at', title: t('schedules.next'), cell: (s) => <Time at={s.next_run_at} />, csv: (s) => s.next_run_at },
    { id: 'later', title: t('schedules.later'), isHidden: true, cell: (s) => s.next_runs_at.slice(1).map((at) => <div key={at}><Time at={at} /></div>),
      csv: (s) => s.next_runs_at.slice(1).join(' ') },
    { id: 'last_run_at', title: t('schedules.last'), cell: (s) => <Time at={s.last_run_at} />, csv: (s) => s.last_run_at },
    { id: 'last_error', title: t('schedules.error'), cell: (s) => (s.last_error ? <span className={measuring.warn}><ServerText>{s.last_error}</ServerText></span> : nothing), csv: (s) => s.last_error },
    { id: 'created_by', title: t('measure.by'), cell: (s) => <code>{s.created_by}</code>, csv: (s) => s.created_by, isHidden: true },
    ...(mayChange ? [{ id: 'acts', title: t('schedules.acts'), cell: (s: ProbeSchedule) => (
      <span style={{ display: 'inline-flex', gap: 6 }}>
        <Button size="compact-xs" aria-label={`${t(s.enabled ? 'schedules.pause' : 'schedules.resume')}: ${s.name}`}
          onClick={() => change.mutate({ schedule: s, change: { enabled: !s.enabled } })}>{t(s.enabled ? 'schedules.pause' : 'schedules.resume')}</Button>
        <Button size="compact-xs" aria-label={`${t('measure.change')}: ${s.name}`} onClick={() => edit(s)}>{t('measure.change')}</Button>
        <Button size="compact-xs" aria-label={`${t('schedules.remove')} ${s.name}`} onClick={() => setRemoved(s)}>{t('schedules.remove')}</Button>
      </span>) }] : []),
  ]
  const add = mayChange ? <Button variant="filled" onClick={() => edit('new')}>{t('schedules.add')}</Button> : undefined
  return (
    <Page title={t('schedules.title')} actions={add}>
      <Ready query={query}>
        <CutMark list={query} name={t('schedules.title')} />
        {change.error && edited === null ? <div style={{ marginBottom: 12 }}><ErrorState error={change.error} /></div> : null}
        <DataTable name="probe-schedules" label={t('schedules.title')} columns={columns} rowKey={(s) => s.id}
          rows={filterSchedules(all, filters, (s) => `${whatOf(s, t)} ${whereOf(s, t)}`)}
          tools={
            <>
              <TextFilter label={t('schedules.filter')} value={filters.text} onChange={(text) => filter({ text })} />
              <NativeSelect label={t('measure.state')} value={filters.state} onChange={(e) => filter({ state: e.currentTarget.value })}
                data={[{ value: '', label: t('ui.any') }, { value: 'on', label: t('schedules.state.on') }, { value: 'off', label: t('schedules.state.off') },
                  { value: 'failed', label: t('schedules.state.failed') }]} />
            </>
          }
          empty={all.length > 0
            ? <NoneFits onClear={() => filter(noScheduleFilters)} />
            : <EmptyState title={t('schedules.none')} action={add}>{t('schedules.none.text')}</EmptyState>} />
      </Ready>
      {edited ? <ScheduleEditor schedule={edited === 'new' ? null : edited} onClose={() => edit(null)} /> : null}
      {removed ? (
        <ConfirmByTyping opened title={t('schedules.remove.title', { name: removed.name })} target={removed.name} action={t('schedules.remove.do')}
          error={remove.error} busy={remove.isPending} onConfirm={() => remove.mutate(removed, { onSuccess: () => setRemoved(null) })} onClose={() => {
            remove.reset()
            setRemoved(null)
          }}><p>{t('schedules.remove.text')}</p></ConfirmByTyping>
      ) : null}
    </Page>
  )
}
